import { type Replication, ReplicationSchema } from "@moorage/api/messages";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { FieldViolation } from "@moorage/kernel/errors";
import { compilePattern, PatternError } from "@moorage/kernel/lib/patterns";
import { isUid } from "@moorage/kernel/lib/uid";
import { MAX_TAG_STEPS } from "../registry/index.ts";
import { destinationFault } from "./destination.ts";

const MIN_INTERVAL_S = 60n;
const MAX_INTERVAL_S = 30n * 24n * 3600n;
const MIN_RATE = 1024n;
const MAX_RATE = 2n ** 40n;

/** All violations of a replication that can be found without asking its destination. */
export function checkReplication(replication: Replication, rules: { allowPrivateNetwork: boolean }): FieldViolation[] {
  const found = violationsOf(ReplicationSchema, replication);
  const wrong = (field: string, description: string | undefined): void => {
    if (description !== undefined && !found.some((each) => each.field === field)) found.push({ field, description });
  };
  const { destination, username, password, destinationIdentity, interval, bytesPerSecond } = replication;
  wrong("repoPattern", patternFault(replication.repoPattern));
  wrong("tagPattern", patternFault(replication.tagPattern));
  wrong("destination", destinationFault(destination, rules));
  if (username !== "" && password === "") wrong("password", "is needed with a user name");
  if (username === "" && password !== "") wrong("username", "is needed with a password");
  if (destinationIdentity !== "" && !isUid(destinationIdentity))
    wrong("destinationIdentity", "must be the uid of an identity at the destination");
  if (destinationIdentity !== "" && username !== "") wrong("destinationIdentity", "goes without a user name");
  if (
    interval !== undefined &&
    (interval.nanos !== 0 || interval.seconds < MIN_INTERVAL_S || interval.seconds > MAX_INTERVAL_S)
  )
    wrong("interval", "must be whole seconds, from one minute to 30 days");
  if (bytesPerSecond !== 0n && (bytesPerSecond < MIN_RATE || bytesPerSecond > MAX_RATE))
    wrong("bytesPerSecond", `must be 0, for no limit, or from ${MIN_RATE} to ${MAX_RATE}`);
  return found;
}

function patternFault(pattern: string): string | undefined {
  if (pattern === "") return undefined;
  try {
    return compilePattern(pattern).steps > MAX_TAG_STEPS ? "is too complex" : undefined;
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return error.message;
  }
}
