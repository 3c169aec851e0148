/** The formats of feeds, with what their sources are. */
export const FEED_FORMATS = {
  osv: "records of OSV: all.zip, a folder, or one record",
  "alpine-secdb": "Alpine's secdb: one document, or an archive of several",
  "debian-tracker": "the JSON of Debian's security tracker",
  openvex: "documents of OpenVEX 0.2",
  "csaf-vex": "documents of CSAF 2.0, profile VEX",
  "cyclonedx-vex": "documents of CycloneDX with vulnerabilities",
  kev: "a catalog of exploited vulnerabilities in the form of CISA's",
  epss: "the scores of EPSS, CSV or CSV.gz",
  endoflife: "products of endoflife.date: pages with front matter, or JSON of its API",
} as const;

export type FeedFormat = keyof typeof FEED_FORMATS;

export function isFeedFormat(text: unknown): text is FeedFormat {
  return typeof text === "string" && Object.hasOwn(FEED_FORMATS, text);
}

/** Formats of which a source that is a single file has everything; of the others it has one record. */
const COMPLETE_IN_ONE_FILE: ReadonlySet<FeedFormat> = new Set([
  "alpine-secdb",
  "debian-tracker",
  "kev",
  "epss",
  "endoflife",
]);

/** Whether a source has all records of its feed, so that those that it lacks are gone. */
export function isSnapshot(format: FeedFormat, { isOneFile }: { isOneFile: boolean }): boolean {
  return !isOneFile || COMPLETE_IN_ONE_FILE.has(format);
}
