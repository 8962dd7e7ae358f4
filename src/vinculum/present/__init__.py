"""Visual output: plots and animations (Plotly), pictures of trees, tables for notebooks, and the report."""
