"""Compilation from symbols to numbers: LLVM for functions, heyoka for Taylor integration."""
