"""Program constraints: perturbations, control-affine systems, the inverse problem."""
