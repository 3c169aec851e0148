import type { FoundPackage } from "../types.ts";

const TAG = { name: 1000, version: 1001, release: 1002, epoch: 1003, licence: 1014, arch: 1022, source: 1044 } as const;
const INT32 = 4;
const TEXTS = new Set([6, 8, 9]);
const MAX_TAGS = 10_000;
/** A longer text is cut, in bytes: no name and no version is that long. */
const MAX_TEXT_BYTES = 4_096;

/**
 * A package from the header of the rpm database: two counts, an index of 16 bytes a tag, and the data. Throws when it
 * is none. Undefined for the keys that rpm keeps among the packages. Source: rpm.org, "RPM v4 header format".
 */
export function packageOfHeader(blob: Buffer): FoundPackage | undefined {
  const tags = blob.readUInt32BE(0);
  const length = blob.readUInt32BE(4);
  const dataAt = 8 + tags * 16;
  if (tags > MAX_TAGS || dataAt + length > blob.length) throw new Error("an rpm header is damaged");
  const data = blob.subarray(dataAt, dataAt + length);
  const places = new Map<number, { type: number; at: number }>();
  for (let at = 8; at < dataAt; at += 16)
    places.set(blob.readUInt32BE(at), { type: blob.readUInt32BE(at + 4), at: blob.readUInt32BE(at + 8) });
  const text = (tag: number): string => {
    const place = places.get(tag);
    if (place === undefined || !TEXTS.has(place.type) || place.at >= data.length) return "";
    const part = data.subarray(place.at, place.at + MAX_TEXT_BYTES);
    const end = part.indexOf(0);
    return part.toString("utf8", 0, end < 0 ? part.length : end);
  };
  const epochAt = places.get(TAG.epoch);
  const epoch = epochAt?.type === INT32 && epochAt.at + 4 <= data.length ? data.readUInt32BE(epochAt.at) : 0;
  const name = text(TAG.name);
  if (name === "" || name === "gpg-pubkey") return undefined;
  const version = `${text(TAG.version)}-${text(TAG.release)}`;
  // `<name>-<version>-<release>.src.rpm`, without the epoch, which is that of the package.
  const [, sourceName, source] = /^(.+)-([^-]+-[^-]+)\.(?:no)?src\.rpm$/.exec(text(TAG.source)) ?? [];
  const withEpoch = (plain: string): string => (epoch > 0 ? `${epoch}:${plain}` : plain);
  return {
    type: "rpm",
    name,
    version,
    ...(epoch > 0 ? { epoch: String(epoch) } : {}),
    architecture: text(TAG.arch),
    licence: text(TAG.licence),
    sourceName: sourceName ?? name,
    sourceVersion: withEpoch(source ?? version),
  };
}
