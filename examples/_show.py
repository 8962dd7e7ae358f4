"""What an example prints when it is run by itself."""


def show(run):
    """Print the motion, and each quantity as it was found beside its exact value."""
    motion, numbers = run()
    print(motion)
    for quantity, (found, exact) in numbers.items():
        print(f"{quantity}: {found:.12g}, exact {exact:.12g}")
