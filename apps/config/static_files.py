"""Static files: serving under ASGI, and hashed names in a deployment.

WhiteNoise answers with a synchronous stream. Under ASGI Django reads it into memory anyway, with a warning for every file. The
largest file is about a megabyte.
"""

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile
from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise with responses that are not streams."""

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
    """Collected files with hashed names, also in the imports of our JavaScript modules.

    A browser identifies a module by its URL. If a page loaded `site.<hash>.js` and another module `site.js`, the module would
    run twice and handle every click twice. A module's hash depends on the hashes of all its imports, so more passes than the
    default five are needed.
    """

    support_js_module_import_aggregation = True
    max_post_process_passes = 12
