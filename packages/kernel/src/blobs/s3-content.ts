import { notFound } from "../errors.ts";
import type { ContentObject } from "./blob-store.ts";
import { BucketError, type ContentBucket } from "./content-bucket.ts";
import { unusable } from "./content-file.ts";
import { openBucket, type S3Bucket } from "./s3-bucket.ts";
import type { NetworkOptions } from "./s3-client.ts";
import { isConflict, isMissing, s3Error, WrongSize } from "./s3-errors.ts";
import { type S3Location, s3UrlOf } from "./s3-url.ts";

/** The bucket at that location, as `openContentBucket` answers it. */
export function contentBucketAt(location: S3Location, network: NetworkOptions): ContentBucket {
  return partOf(openBucket(location, network), location);
}

/** The part of the bucket that begins with the location's prefix. */
function partOf(bucket: S3Bucket, location: S3Location): ContentBucket {
  const { prefix } = location;
  const folderOf = (folder: string): string => (folder === "" ? prefix : `${prefix}${folder}/`);
  return {
    url: s3UrlOf(location),
    async *list(folder) {
      try {
        yield* bucket.listNames(folderOf(folder));
      } catch (error) {
        throw new BucketError(textOf(error), { cause: error });
      }
    },
    read: (key, maxBytes) => unlessMissing(() => bucket.getSmall(`${prefix}${key}`, maxBytes)),
    size: (key) => unlessMissing(() => bucket.size(`${prefix}${key}`)),
    object: (key) => objectOf(bucket, location, `${prefix}${key}`),
    below: (folder) => partOf(bucket, { ...location, prefix: folderOf(folder) }),
  };
}

async function unlessMissing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new BucketError(textOf(error), { cause: error });
  }
}

function objectOf(bucket: S3Bucket, { endpoint }: S3Location, key: string): ContentObject {
  return {
    endpoint,
    bucket: bucket.name,
    key,
    async stat() {
      const found = await bucket.head(key).catch((error: unknown) => {
        throw unusable(textOf(error));
      });
      if (found === undefined) throw notFound("Object", key);
      return found;
    },
    async *bytes({ size, etag }) {
      try {
        yield* bucket.get({ key, etag, start: 0, end: size - 1 });
      } catch (error) {
        if (isMissing(error)) throw notFound("Object", key);
        const isOther = isConflict(error) || error instanceof WrongSize;
        throw unusable(isOther ? "changed while it was read" : textOf(error));
      }
    },
  };
}

/** What is wrong, in a few words: S3's name of the error, or the network's. */
function textOf(error: unknown): string {
  if (error instanceof WrongSize) return error.message;
  const { name, status, code } = s3Error(error);
  if (name === "CredentialsProviderError") return "cannot be read: no credentials were found where AWS tools read them";
  return `cannot be read (${[code ?? name, status].filter(Boolean).join(" ") || "unknown"})`;
}
