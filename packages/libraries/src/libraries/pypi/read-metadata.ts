import { coreMetadata, type CoreMetadata } from "./core-metadata.ts";
import { type ProjectReadme, readmeIn } from "./readme.ts";

/** A METADATA file with the readme behind its header. @public in the packed package's declarations. */
export interface WholeMetadata extends CoreMetadata {
  readme: ProjectReadme | undefined;
}

/** What the bytes of a METADATA file say. */
export function readMetadata({ bytes }: { bytes: Uint8Array }): WholeMetadata {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return { ...coreMetadata(text), readme: readmeIn(text) };
}
