import { UpstreamError } from "./errors.ts";
import { mayHaveGet, requireMissing, type SourceRepository } from "./source-repository.ts";

/** The bytes of a blob as they arrive. */
export interface BlobStream {
  /** The offset in the blob of the first byte. */
  offset: number;
  /** The blob's size in bytes. Undefined when the registry does not say it. */
  size: number | undefined;
  body: AsyncIterable<Buffer>;
  discard(): void;
}

/** A blob's bytes from the offset on, or from its beginning. Undefined when the registry does not have it. */
export async function openBlob(
  { exchange, base }: SourceRepository,
  digest: string,
  offset: number,
  signal: AbortSignal,
): Promise<BlobStream | undefined> {
  const headers: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
  const answer = await exchange.open({ target: `${base}/blobs/${digest}`, headers, signal });
  const { status, body, discard } = answer;
  const length = lengthOf(answer.headers["content-length"]);
  if (status === 200) return { offset: 0, size: length, body, discard };
  const range = status === 206 ? rangeOf(answer.headers["content-range"]) : undefined;
  if (range !== undefined)
    return { offset: range.start, size: range.size ?? sumOf(range.start, length), body, discard };
  discard();
  if (status === 206) throw new UpstreamError("wrong", "the source does not say which part of a blob it sends");
  return requireMissing(status);
}

/**
 * A blob's size in bytes, or `likely` where the registry does not say it. Undefined when the registry does not have the
 * blob. Throws an UpstreamError when its size is not known.
 */
export async function blobSize(
  repository: SourceRepository,
  digest: string,
  likely: number | undefined,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { exchange, base, refusesHead } = repository;
  try {
    if (!refusesHead) {
      const { status, headers } = await exchange.read({ method: "HEAD", target: `${base}/blobs/${digest}`, signal }, 0);
      if (status !== 200) return requireMissing(status);
      const size = lengthOf(headers["content-length"]) ?? likely;
      if (size !== undefined) return size;
    }
  } catch (error) {
    if (!mayHaveGet(error)) throw error;
  }
  const stream = await openBlob(repository, digest, 0, signal);
  stream?.discard();
  const size = stream?.size ?? likely;
  if (stream !== undefined && size === undefined)
    throw new UpstreamError("wrong", "the source does not say how long a blob is");
  return stream && size;
}

function sumOf(start: number, length: number | undefined): number | undefined {
  return length === undefined ? undefined : start + length;
}

function lengthOf(header: string | string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

/** The part that a Content-Range header names; `size`: of the whole, if it says that. Source: RFC 9110 §14.4. */
function rangeOf(header: string | string[] | undefined): { start: number; size: number | undefined } | undefined {
  const [, start, size = "*"] =
    /^bytes[ \t]+(\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/i.exec(typeof header === "string" ? header.trim() : "") ?? [];
  return start === undefined ? undefined : { start: Number(start), size: size === "*" ? undefined : Number(size) };
}
