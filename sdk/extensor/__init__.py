"""Write, prove, ship and run infrastructure providers."""
