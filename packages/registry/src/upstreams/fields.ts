import { type RegistryUpstream, RegistryUpstreamSchema } from "@moorage/api/messages";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Config } from "@moorage/kernel/config";
import type { FieldViolation } from "@moorage/kernel/errors";
import { networks } from "@moorage/kernel/lib/network";
import { urlFault } from "@moorage/kernel/lib/url-fault";
import { isPrivate, policyViolations } from "../registry/index.ts";
import { followFaults } from "./follow-rules.ts";
import { registryOrigin } from "./registries.ts";

const MAX_PATTERNS = 200;
const MAX_DIGESTS = 1_000;
const MAX_NETWORKS = 100;
const MAX_TTL_S = 30n * 24n * 3600n;
const DAY_S = 24n * 3600n;
const MAX_COOLDOWN_S = 3650n * DAY_S;
const MAX_KEEP_S = 3650n * DAY_S;
const PATTERN = /^[\x21-\x7e]{1,255}$/;
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

/** All violations of an upstream that can be found without asking it. */
export function checkUpstream(
  upstream: RegistryUpstream,
  rules: Pick<Config, "allowPrivateNetwork">,
): FieldViolation[] {
  const found = violationsOf(RegistryUpstreamSchema, upstream);
  const wrong = (field: string, description: string | undefined): void => {
    if (description !== undefined) found.push({ field, description });
  };
  if (!found.some(({ field }) => field === "registry")) wrong("registry", registryFault(upstream.registry, rules));
  if (upstream.username !== "" && upstream.password === "") wrong("password", "is needed with a user name");
  if (upstream.username === "" && upstream.password !== "") wrong("username", "is needed with a password");
  wrong("tagTtl", durationFault(upstream.tagTtl, MAX_TTL_S));
  wrong("missingTtl", durationFault(upstream.missingTtl, MAX_TTL_S));
  wrong("cooldown", durationFault(upstream.cooldown, MAX_COOLDOWN_S));
  wrong("keepUnpulled", keepFault(upstream.keepUnpulled));
  wrong("maxBytes", bytesFault(upstream.maxBytes));
  found.push(...followFaults(upstream));
  if (upstream.tagPolicy !== undefined) found.push(...policyViolations(upstream.tagPolicy, "tagPolicy"));
  for (const field of ["allowed", "denied"] as const)
    for (const each of listFaults(field, upstream[field], MAX_PATTERNS, patternFault)) found.push(each);
  found.push(
    ...listFaults("allowedDigests", upstream.allowedDigests, MAX_DIGESTS, digestFault),
    ...listFaults("anonymousNetworks", upstream.anonymousNetworks, MAX_NETWORKS, networkFault),
  );
  return found;
}

function bytesFault(maxBytes: bigint): string | undefined {
  if (maxBytes >= 0n && maxBytes <= BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return `must be from 0, which is no limit, to ${Number.MAX_SAFE_INTEGER}`;
}

/** As long as a rule of retention may say, so that a server that loses the pulls of some seconds deletes nothing. */
function keepFault(duration: Duration | undefined): string | undefined {
  if (duration === undefined) return undefined;
  const { seconds, nanos } = duration;
  if (nanos !== 0 || seconds < DAY_S || seconds > MAX_KEEP_S)
    return `must be whole seconds, from ${DAY_S}, a day, to ${MAX_KEEP_S}`;
  return undefined;
}

function registryFault(registry: string, rules: Pick<Config, "allowPrivateNetwork">): string | undefined {
  const origin = registryOrigin(registry);
  if (origin === undefined) return "must be the host of a registry, with its port if need be";
  if (!rules.allowPrivateNetwork && isPrivate(origin)) return "must be reached by https at a public address";
  return urlFault(origin, rules);
}

function durationFault(duration: Duration | undefined, maxS: bigint): string | undefined {
  if (duration === undefined) return undefined;
  const { seconds, nanos } = duration;
  if (nanos !== 0 || seconds < 0n || seconds > maxS) return `must be whole seconds, from 0 to ${maxS}`;
  return undefined;
}

function listFaults(
  field: string,
  texts: readonly string[],
  most: number,
  fault: (text: string) => string | undefined,
): FieldViolation[] {
  if (texts.length > most) return [{ field, description: `may have ${most} entries at most` }];
  return texts.flatMap((text, at) => {
    const description = fault(text);
    return description === undefined ? [] : [{ field: `${field}[${at}]`, description }];
  });
}

function patternFault(text: string): string | undefined {
  return PATTERN.test(text) ? undefined : "must be 1 to 255 characters of ASCII without spaces";
}

function digestFault(text: string): string | undefined {
  return DIGEST.test(text) ? undefined : "must be a sha256 or sha512 digest";
}

function networkFault(text: string): string | undefined {
  try {
    networks("", [text]);
    return undefined;
  } catch {
    return "must be an address or a network, such as 10.0.0.0/8";
  }
}
