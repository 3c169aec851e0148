import { pipeline } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import type { ByteSource } from "@moorage/kernel/blobs";
import { MoorageError } from "@moorage/kernel/errors";
import { libraryError } from "../http/errors.ts";

/** The form that an upload consists of. */
interface UploadForm<T> {
  /** The text fields, by name; of a name that is sent several times, as that of classifiers is, the first one. */
  fields: ReadonlyMap<string, string>;
  /** The file in the field `content`: its name, and what was made of it. Undefined when there was none. */
  file: { name: string; taken: T } | undefined;
}

/** What is done with the file: `take` reads its bytes as they arrive, `drop` undoes that when the form is wrong. */
interface FileTaker<T> {
  take(source: AsyncIterable<Uint8Array>): Promise<T>;
  drop(taken: T): Promise<void>;
}

const MAX_FIELDS = 2_000;
/** A project's description, in bytes; its other fields are far shorter. */
const MAX_FIELD_BYTES = 4 * 1024 * 1024;
const MAX_FIELDS_BYTES = 8 * 1024 * 1024;
/** All of the form beside the file: fields, their headers, and signatures. */
const MAX_REST_BYTES = 2 * MAX_FIELDS_BYTES;
const LIMITS = { fields: MAX_FIELDS, fieldSize: MAX_FIELD_BYTES, files: 8, parts: MAX_FIELDS + 16, headerPairs: 16 };

/**
 * Reads the form of an upload from a request's body. Throws 400, 413 and 415, and what `take` throws. Sources: RFC
 * 7578; PyPI, "upload API".
 */
export async function readUploadForm<T>(
  body: ByteSource,
  contentType: string | undefined,
  { take, drop }: FileTaker<T>,
): Promise<UploadForm<T>> {
  const form = openForm(contentType ?? "");
  const fields = new Map<string, string>();
  const files: { name: string; taken: Promise<T> }[] = [];
  const fail = (status: 400 | 413, why: string): void =>
    void form.destroy(libraryError(status, `Invalid argument: ${why}`));
  let size = 0;
  let fileBytes = 0;
  // A field that is too long is cut, which shows only when it ends, and it may never end.
  async function* bounded(): ByteSource {
    let bytes = 0;
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes - fileBytes > MAX_REST_BYTES)
        throw libraryError(413, "Invalid argument: body: the form has too much beside the file");
      yield chunk;
    }
  }
  async function* counted(file: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of file) {
      fileBytes += chunk.byteLength;
      yield chunk;
    }
  }
  form.on("field", (name, value, _nameIsCut, isCut) => {
    size += value.length;
    if (isCut || size > MAX_FIELDS_BYTES) fail(413, `${name}: the fields of the form are too long`);
    else if (!fields.has(name)) fields.set(name, value);
  });
  form.on("fieldsLimit", () => fail(413, `body: the form has more than ${MAX_FIELDS} fields`));
  // Whoever waits for the form or the file gets their errors; those that come later still are none of the process.
  form.on("error", () => {});
  form.on("file", (field, stream, name) => {
    stream.on("error", () => {});
    // Signatures, which older clients send beside the file, are read and dropped.
    if (field !== "content") return void stream.resume();
    if (files.length > 0) return fail(400, "content: there is more than one file");
    const taken = take(counted(stream));
    form.once("close", () => stream.destroy(new Error("the form has ended")));
    taken.catch((error: Error) => form.destroy(error));
    files.push({ name, taken });
  });
  const [parsed] = await Promise.allSettled([pipeline(bounded, form)]);
  const [file] = files;
  const arrived = file && (await Promise.allSettled([file.taken]))[0];
  if (parsed.status === "fulfilled" && arrived?.status !== "rejected")
    return { fields, file: file && arrived && { name: file.name, taken: arrived.value } };
  if (arrived?.status === "fulfilled") await drop(arrived.value);
  const reason: unknown =
    parsed.status === "rejected" ? parsed.reason : arrived?.status === "rejected" && arrived.reason;
  if (reason instanceof Error && /Unexpected end of multipart|terminated early/.test(reason.message))
    throw libraryError(400, "Invalid argument: body: the form is cut short");
  throw reason;
}

function openForm(contentType: string): InstanceType<typeof Busboy> {
  if (!/^multipart\/form-data\s*;/i.test(contentType))
    throw libraryError(415, "Invalid argument: body: must be multipart/form-data, as twine sends it");
  try {
    return new Busboy({ headers: { "content-type": contentType }, limits: LIMITS });
  } catch (cause) {
    throw cause instanceof MoorageError ? cause : libraryError(400, "Invalid argument: body: the form has no boundary");
  }
}
