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
