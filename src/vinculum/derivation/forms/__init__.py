"""The classical forms of the equations of motion, one file each."""
