"""Training jobs: the form, the queue, the driver of a trainer process, and the page of a job."""
