"""Times attention side by side with torch's and other packages':
`python -m evoformer.bench --help`."""
