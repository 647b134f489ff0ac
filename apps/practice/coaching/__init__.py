"""What coaches have over many texts: the queue, figures of remarks, examples and phrases."""
