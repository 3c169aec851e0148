import type { ContentObject } from "./blob-store.ts";

/**
 * A bucket that another program fills, or a part of it. It is only read, in bounded time; errors are BucketErrors.
 * Names and keys are below its prefix.
 */
export interface ContentBucket {
  /** Its URL, as `parseS3Url` takes it. */
  url: string;
  /** What is directly below a folder, which is empty or a key without a slash at its end. */
  list(folder: string): AsyncGenerator<{ name: string; isFolder: boolean }>;
  /** A whole object of at most so many bytes, and when it was written; undefined when it is missing. */
  read(key: string, maxBytes: number): Promise<{ content: Buffer; modifiedMs: number } | undefined>;
  /** In bytes; undefined when it is missing. */
  size(key: string): Promise<number | undefined>;
  object(key: string): ContentObject;
  /** The part of it below a folder. */
  below(folder: string): ContentBucket;
}

/** Why something in a bucket cannot be read, in a few words for the operator. */
export class BucketError extends Error {}
