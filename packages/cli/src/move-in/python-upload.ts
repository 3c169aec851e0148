// The form that publishes a file of a Python project, as twine sends it. Source: PyPI, "upload API".
import { randomUUID } from "node:crypto";

/** What is uploaded. */
export interface Upload {
  name: string;
  version: string;
  summary: string;
  requiresPython: string;
  /** The name of the file. */
  file: string;
  /** In hexadecimal. */
  sha256: string;
  chunks: readonly Uint8Array[];
}

/** The form's media type, and its body as it goes out: of the file no second copy is made. */
export function uploadForm(upload: Upload): { contentType: string; body: () => ReadableStream<Uint8Array> } {
  const boundary = `moorage-${randomUUID()}`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: () => ReadableStream.from(partsOf(upload, boundary)) as ReadableStream<Uint8Array>,
  };
}

async function* partsOf(upload: Upload, boundary: string): AsyncGenerator<Uint8Array> {
  const { name, version, summary, requiresPython, file, sha256, chunks } = upload;
  const fields = {
    ":action": "file_upload",
    protocol_version: "1",
    name,
    version,
    filetype: file.endsWith(".whl") ? "bdist_wheel" : "sdist",
    sha256_digest: sha256,
    summary,
    requires_python: requiresPython,
  };
  for (const [field, value] of Object.entries(fields))
    if (value !== "")
      yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`);
  const type = "content-type: application/octet-stream";
  const disposition = `content-disposition: form-data; name="content"; filename="${file}"`;
  yield Buffer.from(`--${boundary}\r\n${disposition}\r\n${type}\r\n\r\n`);
  yield* chunks;
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}
