"""Numbers with units: their sizes in SI units, and dimensions."""
