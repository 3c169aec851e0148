import { compareVersions, isVersion } from "@moorage/kernel/lib/versions";

/** Which tags a request leaves out, by their names. */
export interface Exclusions {
  /** Those that begin with `sha256-`, under which signatures and attestations of an image are stored. */
  excludeReferrers: boolean;
  /** Those that end in a date, `-20yymmdd`. */
  excludeDates: boolean;
  /** Those that end in the epoch of a package, `-r<number>`. */
  excludeEpochs: boolean;
}

const REFERRER = /^sha256-/;
const DATE = /-20\d{6}$/;
const EPOCH = /-r\d+$/;

/** Whether the tag of that name is left out. */
export function excludes({ excludeReferrers, excludeDates, excludeEpochs }: Exclusions): (name: string) => boolean {
  const patterns = [
    ...(excludeReferrers ? [REFERRER] : []),
    ...(excludeDates ? [DATE] : []),
    ...(excludeEpochs ? [EPOCH] : []),
  ];
  return (name) => patterns.some((pattern) => pattern.test(name));
}

/** A tag's name that is a version, in the parts by which it is compared. */
interface TagVersion {
  name: string;
  /** The name up to its epoch and date. */
  version: string;
  /** -1 without an epoch. */
  epoch: number;
  /** Empty without a date. */
  date: string;
}

const PARTS = /^(v?\d.*?)(?:-r(\d{1,9}))?(?:-(20\d{6}))?$/i;

/** Undefined for a name that is no version. */
function versionOf(name: string): TagVersion | undefined {
  const [, version, epoch = "-1", date = ""] = PARTS.exec(name) ?? [];
  if (version === undefined || !isVersion("semver", version)) return undefined;
  return { name, version, epoch: Number(epoch), date };
}

function isLater(a: TagVersion, b: TagVersion): boolean {
  const sign = compareVersions("semver", a.version, b.version) || a.epoch - b.epoch || compareText(a.date, b.date);
  // Names of the same version, such as `1.2` and `v1.2.0`: the longest says the most.
  return (sign || a.name.length - b.name.length || compareText(a.name, b.name)) > 0;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Finds the highest version among names of tags. A name is a version when it begins as one by Semantic Versioning
 * 2.0.0, of one, two or three numbers, after a `v` or not; then may follow the epoch of a package (`-r3`) and a date
 * (`-20260131`). They are compared by the precedence of §11, so that `1.3.0-rc.1` is before `1.3.0` and after `1.2.9`,
 * then by epoch as a number, then by date; without an epoch or a date a name comes before those that have one.
 */
export class LatestVersion {
  #latest: TagVersion | undefined;

  see(name: string): void {
    const version = versionOf(name);
    if (version !== undefined && (this.#latest === undefined || isLater(version, this.#latest))) this.#latest = version;
  }

  /** Empty when none is a version. */
  get name(): string {
    return this.#latest?.name ?? "";
  }
}
