import { blobName, checkedUploadId } from "./names.ts";
import type { StoredBlob } from "./blob-store.ts";

// <prefix>/
// ├── blobs/sha256/9f/9f86d0….1c2d3e4f5a6b7c8d   <hex>.<generation>, never replaced
// ├── probe                                       empty: written to see that the bucket takes writes
// └── uploads/0a1b2c…/                           one upload, by its id
//     ├── start                                  empty: the upload exists
//     ├── 0000000000000000                       the bytes of one append, by their offset in hex
//     ├── 0000000000800000                       the next append, at the offset where that ends
//     └── into-sha256-9f86d0….1c2d3e4f5a6b7c8d   empty: the upload is being assembled into that blob

const UPLOAD_KEY = /^([0-9a-f]{32})\//;
const SEGMENT = /^[0-9a-f]{16}$/;
const INTO = /^into-(sha256|sha512)-([0-9a-f]{64,128})\.([0-9a-f]{16})$/;
const BLOB_KEY = /^(sha256|sha512)\/[0-9a-f]{2}\/([0-9a-f]{64,128})\.([0-9a-f]{16})$/;

type BlobGeneration = Omit<StoredBlob, "size">;

/** The keys of the objects below a prefix of the bucket. An id, digest or generation that is none is NOT_FOUND. */
export class S3Keys {
  /** The prefix of all uploads. */
  readonly uploads: string;
  /** The prefix of all blobs. */
  readonly blobs: string;
  /** Written to find out whether the bucket takes writes. */
  readonly probe: string;

  constructor(prefix: string) {
    this.uploads = `${prefix}uploads/`;
    this.blobs = `${prefix}blobs/`;
    this.probe = `${prefix}probe`;
  }

  blob(digest: string, generation: string): string {
    const { folder, name } = blobName(digest, generation);
    return `${this.blobs}${folder}/${name}`;
  }

  /** The blob of a key below `blobs`; undefined when it is the key of none. */
  blobOf(key: string): BlobGeneration | undefined {
    return generationOf(BLOB_KEY.exec(key.slice(this.blobs.length)));
  }

  /** The id of an upload that the key, below `uploads`, belongs to; undefined when there is none. */
  uploadOf(key: string): string | undefined {
    return UPLOAD_KEY.exec(key.slice(this.uploads.length))?.[1];
  }

  upload(id: string): UploadKeys {
    return new UploadKeys(`${this.uploads}${checkedUploadId(id)}/`);
  }
}

/** The keys of one upload. */
export class UploadKeys {
  /** The prefix of all of them. */
  readonly folder: string;
  readonly start: string;

  constructor(folder: string) {
    this.folder = folder;
    this.start = `${folder}start`;
  }

  segment(offset: number): string {
    return `${this.folder}${offset.toString(16).padStart(16, "0")}`;
  }

  /** The offset of a segment by its key; undefined when it is the key of none. */
  offsetOf(key: string): number | undefined {
    const name = key.slice(this.folder.length);
    return SEGMENT.test(name) ? Number.parseInt(name, 16) : undefined;
  }

  into({ digest, generation }: BlobGeneration): string {
    return `${this.folder}into-${digest.replace(":", "-")}.${generation}`;
  }

  /** The blob that the upload is assembled into, by the key that says so; undefined for other keys. */
  intoOf(key: string): BlobGeneration | undefined {
    return generationOf(INTO.exec(key.slice(this.folder.length)));
  }
}

function generationOf(match: RegExpExecArray | null): BlobGeneration | undefined {
  const [, algorithm, hex, generation] = match ?? [];
  return algorithm && hex && generation ? { digest: `${algorithm}:${hex}`, generation } : undefined;
}
