"""Static files: how they are served under ASGI, and under which names a deployment keeps them.

WhiteNoise answers with a synchronous stream, which Django reads into memory anyway when it runs under ASGI, with a warning for
every file. The largest file is about a megabyte.
"""

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile
from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise with answers that are no streams."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file as file:
                body = file.read()
        answer = HttpResponse(body, status=int(found.status))
        del answer["content-type"]
        for name, value in found.headers:
            answer[name] = value
        return answer


class CollectedFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Collected files under names with their hash, in what our modules import too.

    A browser knows a module by its address: if a page asked for `site.<hash>.js` and another module for `site.js`, the module
    would run twice and every click be answered twice. The hash of a module changes with those of all it imports, so there are
    more passes over the files than the default five.
    """

    support_js_module_import_aggregation = True
    max_post_process_passes = 12
