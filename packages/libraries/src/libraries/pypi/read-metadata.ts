import { coreMetadata, type CoreMetadata } from "./core-metadata.ts";

/** What the bytes of a METADATA file say. */
export function readMetadata({ bytes }: { bytes: Uint8Array }): CoreMetadata {
  return coreMetadata(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
}
