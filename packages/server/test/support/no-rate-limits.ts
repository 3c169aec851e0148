/**
 * Settings of servers under test: a test sends as many requests from one address, and mostly as one identity, as a
 * thousand users. rate-limits.test.ts sets limits.
 */
export const UNLIMITED = {
  MOORAGE_CATALOG_IMAGES: "0",
  MOORAGE_DISK_RESERVE: "0",
  MOORAGE_DRAIN_DELAY: "0",
  MOORAGE_RATE_LIMIT_IDENTITY: "0",
  MOORAGE_RATE_LIMIT_ADDRESS: "0",
};
