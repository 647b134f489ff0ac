"""The table of buckets: the number of disagreeing pairs per grader and bucket, linked to those pairs."""

from collections.abc import Callable, Mapping

from apps.agreement.buckets import OPEN, SEVERAL, bucket_counts
from apps.agreement.choosing import Which
from apps.agreement.comparisons import Gathered
from apps.agreement.models import Bucket
from apps.agreement.pages import Line, Linked

TITLES = ("disagree", *(bucket.label for bucket in Bucket), "several reasons", "no reason")


def bucket_lines(source: str, gathered: Gathered, names: Mapping[str, str], address: Callable[[Which], str]) -> list[Line]:
    """One line per grader and author source, as author sources are never pooled."""
    lines = []
    for name, pairs in gathered.graders.items():
        for author in sorted({pair.author for pair in pairs}):
            counts = bucket_counts(source, name, [pair for pair in pairs if pair.author == author])
            cells = [(counts.disagreeing, ""), *((counts.named[bucket], bucket.value) for bucket in Bucket)]
            cells += [(counts.several, SEVERAL), (counts.open, OPEN)]
            links = [
                Linked(
                    f"{count:,}", address(Which(of=name, author=author, difference="differ", bucket=bucket)) if count else ""
                )
                for count, bucket in cells
            ]
            title = names.get(name, name)
            lines.append(Line(f"{title}, papers by {author}s" if author else title, links))
    return lines
