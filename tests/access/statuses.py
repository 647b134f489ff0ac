"""Statuses of a GET request for an anonymous visitor, a student, a coach and a researcher: the words of rules.py."""

EVERYONE = (200, 200, 200, 200)
SIGNED_IN = (302, 200, 200, 200)
RUN_READERS = (302, 404, 200, 200)
AUTHORS = (302, (403, 404), 200, 200)
POST_ONLY = (302, 405, 405, 405)
API_POST_ONLY = (405, 405, 405, 405)
API_SIGNED_IN = (401, 200, 200, 200)
API_RUN_READERS = (401, 404, 200, 200)
RESEARCHERS = (302, 404, 404, 200)
STAFF = (302, 404, 404, 404, 200)
CONTEST_COACH = (302, 404, 200, 404, 404)
OWN_MARK_OPEN = (302, 404, 403, 404, 404)  # tests/marks/workspace/test_own_marks_first.py has what is seen once it is sealed.
CONTEST_STUDENT = (302, 200, 404, 404, 404)
NOT_A_PAGE = None
#: An identifier that no object has.
ANY_ID = "5e1f0a3c-9c1b-4b43-8f2d-0b8f6f1f7c11"
