// Photos are made as small as the server will store them before they travel over a phone's connection.

const LONG_SIDE = 2000; // As in apps/submissions/intake/child.py.
const SMALL_BYTES = 600_000;
const QUALITY = 0.85;

/** The photo as a JPEG of at most 2,000 pixels, or the file itself if it is small, no photo, or unreadable here (as HEIC may be). */
export async function smaller(file) {
  if (!file.type.startsWith("image/") || (file.size <= SMALL_BYTES && /jpeg|png|hei[cf]/.test(file.type))) return file;
  try {
    const picture = await createImageBitmap(file);
    const scale = Math.min(1, LONG_SIDE / Math.max(picture.width, picture.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(picture.width * scale);
    canvas.height = Math.round(picture.height * scale);
    const pen = canvas.getContext("2d");
    pen.fillStyle = "white";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const made = await new Promise((resolve) => { canvas.toBlob(resolve, "image/jpeg", QUALITY); });
    return made && made.size < file.size ? made : file;
  } catch {
    return file;
  }
}
