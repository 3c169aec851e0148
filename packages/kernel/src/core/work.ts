/**
 * The background work that a committed transaction may have left something to do for; see `Call.wake`.
 *
 * - `certificate-statuses`: certificates that an authority is to be asked about now
 * - `deliveries`: events to be numbered and sent
 * - `evictions`: what is kept of other registries that is nearly as much as may be
 * - `feeds`: a feed that is to be fetched now
 * - `images`: images and attached documents to be read
 * - `mails`: mails to be sent
 * - `matching`: packages and records to be compared, images whose findings may have changed
 * - `mirrors`: repos to be copied
 * - `quotas`: quotas that are not counted yet
 * - `replications`: tags that moved or were deleted, what is to be pushed
 * - `scans`: images that adapters are to scan, tags that moved
 * - `signatures`: what was signed and is to be verified
 * - `trust-roots`: a trust root that is to be fetched now
 */
export type Work =
  | "certificate-statuses"
  | "deliveries"
  | "evictions"
  | "feeds"
  | "images"
  | "mails"
  | "matching"
  | "mirrors"
  | "quotas"
  | "replications"
  | "scans"
  | "signatures"
  | "trust-roots";
