"""What can be known about equations of motion without running them."""
