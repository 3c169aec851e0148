import { GetObjectCommand, HeadObjectCommand } from "@aws-sdk/client-s3";
import type { S3Client } from "@aws-sdk/client-s3";
import { isMissing, isPassing, s3Error, WrongSize } from "./s3-errors.ts";
import type { Piece } from "./s3-parts.ts";

/** The range of an object to read. */
export type ObjectRange = Omit<Piece, "etag"> & { etag?: string };

interface Source {
  client: S3Client;
  bucket: string;
  /** How long the server may pause before the request is cut and repeated from there on. */
  silenceTimeoutMs: number;
}

// So often a body may break off with no byte in between; the SDK itself repeats requests that get no answer.
const MAX_BREAKS = 3;

/**
 * The bytes of a range, whose object must have the ETag when one is given. A body that breaks off, or in which the
 * server pauses too long, is asked for again from there on, of the same object. Fails with PreconditionFailed when it
 * was replaced, and with WrongSize when it has not that many bytes.
 */
export async function* bytesOf(source: Source, { key, etag, start, end }: ObjectRange): AsyncGenerator<Buffer> {
  let [at, breaks, seen] = [start, 0, etag];
  while (at <= end) {
    const { chunks, etag: found } = await open(source, { key, etag: seen, start: at, end });
    seen = found;
    try {
      for await (const chunk of withoutPauses(chunks, source.silenceTimeoutMs)) {
        at += chunk.length;
        if (at > end + 1) throw new WrongSize("the S3 server sent more bytes than asked for");
        breaks = 0;
        yield chunk;
      }
      if (at <= end) throw Object.assign(new Error("the S3 server sent too few bytes"), { code: "ECONNRESET" });
    } catch (error) {
      breaks += 1;
      if (!isPassing(error) || breaks === MAX_BREAKS) throw error;
    }
  }
}

async function open(
  { client, bucket }: Source,
  { key, etag, start, end }: ObjectRange,
): Promise<{ chunks: AsyncIterable<Buffer> & { destroy(): void }; etag: string | undefined }> {
  const command = new GetObjectCommand({ Bucket: bucket, Key: key, IfMatch: etag, Range: `bytes=${start}-${end}` });
  const answer = await client.send(command).catch((error: unknown) => {
    throw s3Error(error).name === "InvalidRange" ? new WrongSize("the object is shorter than asked for") : error;
  });
  const chunks = answer.Body as unknown as AsyncIterable<Buffer> & { destroy(): void };
  const { ContentLength: length = end - start + 1, ContentRange: range, ETag: found } = answer;
  const isAsked = range === undefined || range.startsWith(`bytes ${start}-${end}/`);
  if (length === end - start + 1 && isAsked && (etag === undefined || found === undefined || found === etag))
    return { chunks, etag: found ?? etag };
  chunks.destroy();
  throw new WrongSize("the S3 server answered with something else than was asked for");
}

/** The chunks; fails when the next one does not come in time. How long its reader takes with each does not count. */
async function* withoutPauses(
  chunks: AsyncIterable<Buffer> & { destroy(): void },
  timeoutMs: number,
): AsyncGenerator<Buffer> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await inTime(iterator.next(), timeoutMs);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Also ends a `next` that still waits.
    chunks.destroy();
  }
}

async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(Object.assign(new Error("the S3 server paused too long"), { name: "TimeoutError", code: "ETIMEDOUT" }));
  }, timeoutMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}

/** The whole object, which is small. */
export async function wholeOf(source: Source, key: string): Promise<Buffer> {
  return (await smallOf(source, key, Number.MAX_SAFE_INTEGER)).content;
}

/**
 * The whole object, and when it was written, in milliseconds since 1970. Fails with WrongSize when it has more bytes
 * than that.
 */
export async function smallOf(
  source: Source,
  key: string,
  maxBytes: number,
): Promise<{ content: Buffer; modifiedMs: number }> {
  const { client, bucket, silenceTimeoutMs } = source;
  for (let breaks = 1; ; breaks += 1) {
    const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    const { ContentLength, LastModified } = answer;
    const body = answer.Body as unknown as AsyncIterable<Buffer> & { destroy(): void };
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      if ((ContentLength ?? 0) > maxBytes) body.destroy();
      else
        for await (const chunk of withoutPauses(body, silenceTimeoutMs)) {
          chunks.push(chunk);
          if ((bytes += chunk.length) > maxBytes) break;
        }
      if (Math.max(bytes, ContentLength ?? 0) > maxBytes) throw new WrongSize(`has more than ${maxBytes} bytes`);
      const content = Buffer.concat(chunks);
      if (content.length === (ContentLength ?? content.length))
        return { content, modifiedMs: LastModified?.getTime() ?? 0 };
      throw Object.assign(new Error("the S3 server sent another number of bytes than it said"), { code: "ECONNRESET" });
    } catch (error) {
      if (!isPassing(error) || breaks === MAX_BREAKS) throw error;
    }
  }
}

/** The size of an object and its ETag; undefined when it is missing. That the whole bucket is missing is an error. */
export async function headOf(
  { client, bucket }: Source,
  key: string,
): Promise<{ size: number; etag: string } | undefined> {
  const ask = async (): ReturnType<typeof headOf> => {
    const { ContentLength, ETag = "" } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
    return ContentLength === undefined ? undefined : { size: ContentLength, etag: ETag };
  };
  try {
    return await ask();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  // The answer to HEAD has no body, in which servers say what is missing.
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key, Range: "bytes=0-0" }));
    (Body as unknown as { destroy(): void } | undefined)?.destroy();
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (s3Error(error).name !== "InvalidRange") throw error;
  }
  return await ask();
}
