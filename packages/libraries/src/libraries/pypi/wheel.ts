import type { ReadRange } from "../http/ranges.ts";
import { entryOf, ZipError } from "../http/stored-zip.ts";
import { normalizedName } from "./names.ts";

/** Metadata files are some kilobytes; a description of a megabyte is the largest seen. */
const MAX_METADATA_BYTES = 8 * 1024 * 1024;
const METADATA = /^([^/]+)-[^-/]+\.dist-info\/METADATA$/;

/** Why a file is no wheel of the project, for people. */
export class WheelError extends Error {}

/**
 * The METADATA file of a wheel, byte for byte. `project`: normalized. Throws a WheelError when the file is no archive,
 * or has no metadata of this project. Source: PyPA, "binary distribution format".
 */
export async function wheelMetadata(readRange: ReadRange, sizeBytes: number, project: string): Promise<Buffer> {
  const isWanted = (entry: string): boolean => {
    const [, name] = METADATA.exec(entry) ?? [];
    return name !== undefined && normalizedName(name) === project;
  };
  let found: Buffer | undefined;
  try {
    found = await entryOf(readRange, sizeBytes, { isWanted, maxBytes: MAX_METADATA_BYTES });
  } catch (error) {
    throw error instanceof ZipError ? new WheelError(error.message, { cause: error }) : error;
  }
  if (found === undefined) throw new WheelError(`the wheel has no ${project}-….dist-info/METADATA`);
  return found;
}
