export {
  type AdoptedBlob,
  type Appended,
  type BlobStore,
  type ByteRange,
  type ByteSink,
  type ByteSource,
  type ContentFault,
  type DigestAlgorithm,
  SMALL_BLOB_BYTES,
  type StoredBlob,
} from "./blob-store.ts";
export { openFilesystemBlobs } from "./filesystem.ts";
export { openBlobs } from "./open.ts";
export { readInto } from "./whole.ts";
export { BlobsUrlError, parseS3Url } from "./s3-url.ts";
