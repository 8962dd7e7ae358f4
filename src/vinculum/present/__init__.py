"""What people see: plots and animations (Plotly)."""
