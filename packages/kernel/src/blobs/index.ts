export {
  type AdoptedBlob,
  type Appended,
  type BlobStore,
  type ByteRange,
  type ByteSink,
  type ByteSource,
  type ContentFault,
  type ContentPlace,
  type DigestAlgorithm,
  SMALL_BLOB_BYTES,
  type StoredBlob,
} from "./blob-store.ts";
export { openFilesystemBlobs } from "./filesystem.ts";
export { BucketError, type ContentBucket } from "./content-bucket.ts";
export { openBlobs, openContentBucket } from "./open.ts";
export { readInto } from "./whole.ts";
export { BlobsUrlError, parseS3Url } from "./s3-url.ts";
