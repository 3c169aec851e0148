// The columns of lists, by the field of the list. A table, so that they are seen together.
import type { JsonObject } from "../api/rest.ts";
import { objectsIn } from "../api/json-fields.ts";
import type { Column } from "../output/listing.ts";
import {
  above,
  bytes,
  colorBy,
  count,
  digest,
  duration,
  named,
  text,
  textAt,
  textOf,
  time,
  valueAt,
  word,
  yes,
} from "./column-kinds.ts";
import { countOfAttention, gapsOfAttention } from "./attention-words.ts";
import { NAMES, nameOfAny } from "./item-names.ts";

const FLEXIBLE = { flexible: true } as const;
const WIDE = { wide: true } as const;
// A row of which nothing is known would look as if there was nothing.
const UNKNOWN = { missing: "unknown" } as const;
/** Empty until the first token: until then the API has the time it was made. A person is made by the first sign-in. */
function seenTime(item: JsonObject): string {
  const isNever = item["lastSeenTime"] === item["createTime"] && !item["identityProvider"];
  return isNever ? "" : textAt(item, "lastSeenTime");
}

const UID = text("UID", "uid", WIDE);
const CREATED = time("CREATED", "createTime");
const UPDATED = time("UPDATED", "updateTime");
const DESCRIPTION = text("DESCRIPTION", "description", FLEXIBLE);

const SEVERITY_COLORS = {
  FINDING_SEVERITY_CRITICAL: "red",
  FINDING_SEVERITY_HIGH: "red",
  FINDING_SEVERITY_MEDIUM: "yellow",
  FINDING_SEVERITY_LOW: "cyan",
} as const;

const SEVERITY = word("SEVERITY", "severity", "FINDING_SEVERITY_", { color: colorBy("severity", SEVERITY_COLORS) });

const dimWhenDeprecated: Column["color"] = (item) => (item["deprecated"] === true ? "dim" : undefined);

/** Whether a version of a library is yanked or deprecated, and why. */
function withdrawn(item: JsonObject): string {
  const [reason, deprecation] = [textAt(item, "yankReason"), textAt(item, "deprecation")];
  if (item["yanked"] === true) return reason === "" ? "yanked" : `yanked: ${reason}`;
  return deprecation === "" ? "" : `deprecated: ${deprecation}`;
}

const dimWhenWithdrawn: Column["color"] = (item) => (withdrawn(item) === "" ? undefined : "dim");

function nameColumn(field: string, color?: Column["color"]): Column {
  return { header: "NAME", value: NAMES[field] ?? nameOfAny, kind: "path", ...(color && { color }) };
}

/** What may assume an identity, in a word. */
function assumedBy(item: JsonObject): string {
  if (item["claimMatch"]) return "claims";
  if (item["staticKeys"]) return "static keys";
  if (item["awsIdentity"]) return "aws";
  if (item["identityProvider"]) return "sign-in";
  const principal = textAt(item, "servicePrincipal");
  return principal === "" || principal.endsWith("_UNSPECIFIED") ? "" : "service";
}

/** By what the signatures of a signer are known. */
function knownBy(item: JsonObject): string {
  if (item["keyless"]) return textAt(item, "keyless.subject") || textAt(item, "keyless.subjectPattern");
  if (item["x509"]) return "certificates";
  const keys = valueAt(item, "keys");
  const known = Array.isArray(keys) ? keys.length : 0;
  return `${known} ${known === 1 ? "key" : "keys"}`;
}

/** The kind of an advisory's event: its only field of a type. */
function advisoryEventType(event: JsonObject): string {
  const type = ADVISORY_EVENT_TYPES.find((name) => event[name]);
  return type === undefined ? "" : type.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const ADVISORY_EVENT_TYPES = [
  "detection",
  "fixed",
  "falsePositiveDetermination",
  "analysisNotPlanned",
  "fixNotPlanned",
  "pendingUpstreamFix",
  "truePositiveDetermination",
  "patched",
];

function lastEvent(item: JsonObject): JsonObject {
  const events = valueAt(item, "events");
  const last = Array.isArray(events) ? events.at(-1) : undefined;
  return last !== null && typeof last === "object" && !Array.isArray(last) ? last : {};
}

/** `2 critical, 5 high`: the counts of a scan that are not 0. */
function countsOf(item: JsonObject): string {
  const counts = valueAt(item, "counts");
  if (counts === null || typeof counts !== "object" || Array.isArray(counts)) return "";
  return ["critical", "high", "medium", "low"]
    .filter((name) => Number(counts[name] ?? 0) > 0)
    .map((name) => `${textOf(counts[name])} ${name}`)
    .join(", ");
}

/** Hand-made columns, by the field of the list; by noun and field where another list has a field of that name. */
export const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  groups: [
    nameColumn("groups"),
    DESCRIPTION,
    UPDATED,
    word("KIND", "kind", "ORG_KIND_", WIDE),
    word("STATUS", "status", "ORG_STATUS_", WIDE),
    yes("VERIFIED", "verified", WIDE),
    { ...CREATED, ...WIDE },
    UID,
  ],
  repos: [
    nameColumn("repos"),
    DESCRIPTION,
    UPDATED,
    word("TIER", "catalogTier", "CATALOG_TIER_", WIDE),
    text("BUNDLES", "bundles", WIDE),
    text("MIRRORS", "syncConfig.source", WIDE),
    text("ALIASES", "aliases", WIDE),
    { ...CREATED, ...WIDE },
    UID,
  ],
  tags: [
    nameColumn("tags", dimWhenDeprecated),
    { ...digest("DIGEST", "digest"), color: dimWhenDeprecated },
    { ...UPDATED, color: dimWhenDeprecated },
    { ...yes("DEPRECATED", "deprecated"), color: dimWhenDeprecated },
    text("BUNDLES", "bundles", WIDE),
    time("ENDS", "expireTime", WIDE),
    UID,
  ],
  moves: [
    time("TIME", "time"),
    text("REASON", "reason"),
    digest("DIGEST", "digest"),
    digest("PREVIOUS", "previousDigest"),
    named("BY", "actor", "identity"),
    text("SOURCE", "source", WIDE),
  ],
  expiringTags: [text("NAME", "name"), digest("DIGEST", "digest"), UPDATED, count("RULE", "rule")],
  eolTags: [
    nameColumn("eolTags"),
    text("PRODUCT", "product"),
    text("VERSION", "version"),
    text("END OF LIFE", "release.eolDate"),
    word("STATUS", "status", "EOL_TAG_STATUS_", {
      color: colorBy("status", { EOL_TAG_STATUS_IN_GRACE: "yellow", EOL_TAG_STATUS_INACTIVE: "red" }),
    }),
    time("GRACE ENDS", "graceExpireTime", WIDE),
    text("LATEST", "release.latestVersion", WIDE),
    text("FROM", "versionSource", WIDE),
    digest("DIGEST", "digest", WIDE),
    UID,
  ],
  artifacts: [
    nameColumn("artifacts"),
    word("ECOSYSTEM", "ecosystem", "ECOSYSTEM_"),
    text("LATEST", "latestVersion"),
    count("VERSIONS", "versionCount"),
    DESCRIPTION,
    UPDATED,
    UID,
  ],
  artifactVersions: [
    text("VERSION", "version", { color: dimWhenWithdrawn }),
    { header: "STATE", value: withdrawn, flexible: true },
    bytes("SIZE", "sizeBytes"),
    CREATED,
    DESCRIPTION,
    named("PUBLISHER", "publisher", "identity", WIDE),
    { ...UPDATED, ...WIDE },
    UID,
  ],
  results: [
    word("KIND", "kind", "SEARCH_KIND_"),
    nameColumn("results"),
    {
      header: "LABEL",
      value: (item) => [textAt(item, "labelKey"), textAt(item, "labelValue")].filter((part) => part !== "").join("="),
      flexible: true,
    },
    UPDATED,
    text("REPO UID", "repoUid", WIDE),
  ],
  quotas: [
    { header: "GROUP", value: (item, pathOf) => pathOf(textAt(item, "uid"), "group") },
    bytes("BYTES", "bytes"),
    bytes("USED", "used.bytes"),
    text("REPOS", "repos", WIDE),
    text("USED REPOS", "used.repos", WIDE),
    text("TAGS", "tags", WIDE),
    text("USED TAGS", "used.tags", WIDE),
    text("LIBRARIES", "libraries", WIDE),
    text("USED LIBRARIES", "used.libraries", WIDE),
    bytes("HISTORY", "used.historyBytes", WIDE),
    bytes("CACHED", "used.cachedBytes", WIDE),
    bytes("PENDING", "used.pendingBytes", WIDE),
    time("MEASURED", "used.measureTime", WIDE),
    word("STATE", "state", "QUOTA_STATE_"),
  ],
  // What is not summed up by is empty.
  pulls: [
    text("NAME", "name"),
    text("DAY", "day"),
    text("TAG", "tag"),
    digest("DIGEST", "digest"),
    named("BY", "identity", "identity"),
    count("PULLS", "count"),
    bytes("BYTES", "bytes"),
    time("LAST", "lastTime", WIDE),
    text("REPO", "repoUid", WIDE),
  ],
  downloads: [
    text("NAME", "name"),
    text("VERSION", "version"),
    word("ECOSYSTEM", "ecosystem", "ECOSYSTEM_"),
    count("DOWNLOADS", "count"),
    time("LAST", "lastTime"),
    text("UID", "uid", WIDE),
  ],
  usage: [
    text("NAME", "name"),
    text("PERIOD", "period"),
    bytes("BYTES", "bytes", UNKNOWN),
    count("GROWTH", "growth", { ...UNKNOWN, ...WIDE }),
    count("PULLS", "pulls", UNKNOWN),
    bytes("TRAFFIC", "trafficBytes", UNKNOWN),
    yes("INCOMPLETE", "incomplete"),
    text("GROUP", "groupUid", WIDE),
  ],
  exposures: [
    text("IMAGE", "image"),
    named("BY", "identity", "identity"),
    time("LAST PULL", "lastPullTime"),
    text("PACKAGE", "package"),
    text("FIX", "fix"),
    text("VERSION", "version", WIDE),
    digest("DIGEST", "digest", WIDE),
    count("PULLS", "pulls", WIDE),
    time("FIRST PULL", "firstPullTime", WIDE),
    time("OPEN SINCE", "openTime", WIDE),
  ],
  "signature-policies tags": [
    text("IMAGE", "repository"),
    text("TAG", "tag"),
    word("OUTCOME", "outcome", "SIGNATURE_OUTCOME_"),
    text("REASON", "reason", FLEXIBLE),
    digest("DIGEST", "digest", WIDE),
  ],
  signers: [
    nameColumn("signers"),
    { header: "KNOWN BY", value: knownBy, flexible: true },
    DESCRIPTION,
    { ...UPDATED, ...WIDE },
    UID,
  ],
  trustRoots: [
    nameColumn("trustRoots"),
    word("STATE", "state", "TRUST_ROOT_STATE_"),
    { header: "SOURCE", value: (item) => textAt(item, "tuf.url") || "resource", flexible: true },
    time("REFRESHED", "refreshTime"),
    text("MESSAGE", "message", FLEXIBLE),
    count("LOGS", "logThreshold", WIDE),
    count("SCTS", "sctThreshold", WIDE),
    count("TIMESTAMPS", "timestampThreshold", WIDE),
    { ...UPDATED, ...WIDE },
    UID,
  ],
  signaturePolicies: [
    nameColumn("signaturePolicies"),
    word("MODE", "mode", "GATE_MODE_"),
    text("REPOS", "repoPattern"),
    text("TAGS", "tagPattern"),
    DESCRIPTION,
    { ...UPDATED, ...WIDE },
    UID,
  ],
  signatureExemptions: [
    named("REPO", "repo", "repo"),
    digest("DIGEST", "digest"),
    text("TAG", "tag"),
    time("ENDS", "expireTime"),
    text("REASON", "reason", FLEXIBLE),
    UID,
  ],
  storage: [
    { header: "GROUP", value: (item, pathOf) => pathOf(textAt(item, "groupUid"), "group") },
    bytes("BLOBS", "blobBytes"),
    bytes("SHARED", "sharedBytes"),
    count("REPOS", "repos"),
    count("TAGS", "tags"),
    count("MANIFESTS", "manifests", WIDE),
    bytes("MANIFEST BYTES", "manifestBytes", WIDE),
    yes("OWN", "own", WIDE),
    text("GROUP UID", "groupUid", WIDE),
  ],
  identities: [
    nameColumn("identities"),
    { header: "ASSUMED BY", value: assumedBy },
    text("E-MAIL", "email"),
    { ...time("LAST SEEN", "lastSeenTime"), value: seenTime },
    DESCRIPTION,
    {
      header: "ISSUER",
      value: (item) => textAt(item, "claimMatch.issuer") || textAt(item, "staticKeys.issuer"),
      wide: true,
    },
    {
      header: "SUBJECT",
      value: (item) => textAt(item, "claimMatch.subject") || textAt(item, "staticKeys.subject"),
      wide: true,
    },
    { ...CREATED, ...WIDE },
    UID,
  ],
  roles: [
    nameColumn("roles"),
    {
      header: "CAPABILITIES",
      value(item) {
        const capabilities = valueAt(item, "capabilities");
        return String(Array.isArray(capabilities) ? capabilities.length : 0);
      },
      right: true,
    },
    DESCRIPTION,
    { ...UPDATED, ...WIDE },
    UID,
  ],
  roleBindings: [
    {
      header: "IDENTITY",
      value: (item) => {
        const name = textAt(item, "identity.name") || textAt(item, "identity.email");
        return textAt(item, "inactiveReason") === "" ? name : `${name} (inactive)`;
      },
    },
    text("ROLE", "role.name"),
    named("GROUP", "group.uid", "group"),
    CREATED,
    text("INACTIVE", "inactiveReason", WIDE),
    text("E-MAIL", "identity.email", WIDE),
    time("LAST SEEN", "identity.lastSeenTime", WIDE),
    UID,
  ],
  identityProviders: [
    nameColumn("identityProviders"),
    text("ISSUER", "oidc.issuer"),
    named("DEFAULT ROLE", "defaultRole", "role"),
    DESCRIPTION,
    { ...UPDATED, ...WIDE },
    text("CLIENT ID", "oidc.clientId", WIDE),
    text("REDIRECT URI", "redirectUri", WIDE),
    UID,
  ],
  groupInvites: [
    text("KEY ID", "keyId"),
    above("GROUP", "group"),
    text("ROLE", "role.name"),
    text("E-MAIL", "email"),
    text("MAILED TO", "mailTo"),
    word("MAIL", "mailState", "MAIL_STATE_"),
    time("EXPIRES", "expirationTime"),
    yes("SINGLE USE", "singleUse", WIDE),
    text("MAIL REASON", "mailReason", WIDE),
    { ...CREATED, ...WIDE },
    UID,
  ],
  externalGroupRoleMappings: [
    named("PROVIDER", "identityProviderUid", "provider"),
    text("EXTERNAL GROUP", "externalGroupId"),
    named("ROLE", "roleUid", "role"),
    named("SCOPE", "scope", "group"),
    { ...CREATED, ...WIDE },
    UID,
  ],
  accountAssociations: [
    nameColumn("accountAssociations"),
    {
      header: "ACCOUNTS",
      value: (item) => ["amazon", "google", "azure", "github", "services"].filter((cloud) => item[cloud]).join(", "),
    },
    DESCRIPTION,
    UPDATED,
    UID,
  ],
  termsAcceptances: [
    text("DOCUMENT", "docId"),
    named("ACCEPTED BY", "acceptedBy", "identity"),
    named("ORGANIZATION", "orgUid", "group"),
    time("ACCEPTED", "createTime"),
  ],
  sessions: [
    word("KIND", "kind", "SESSION_KIND_"),
    named("IDENTITY", "identity", "identity"),
    named("PROVIDER", "provider", "provider"),
    time("LAST SEEN", "seenTime"),
    time("EXPIRES", "expireTime"),
    yes("CURRENT", "current"),
    text("NETWORK", "network", WIDE),
    text("USER AGENT", "userAgent", WIDE),
    UID,
  ],
  auditEntries: [
    time("TIME", "createTime"),
    word("DECISION", "decision", "AUDIT_DECISION_", { color: colorBy("decision", { AUDIT_DECISION_DENIED: "red" }) }),
    // A method's own name says what it is about.
    { ...text("METHOD", "method"), short: (method) => method.replace(/^moorage\..*[./]/, "") },
    named("RESOURCE", "resource", undefined, FLEXIBLE),
    named("IDENTITY", "identity", "identity"),
    text("REASON", "reason", FLEXIBLE),
    count("CODE", "code", WIDE),
    text("ADDRESS", "remoteAddress", WIDE),
    text("REQUEST ID", "requestId", WIDE),
    text("USER AGENT", "userAgent", WIDE),
    UID,
  ],
  subscriptions: [
    above("GROUP", "group"),
    text("SINK", "sink", FLEXIBLE),
    word("STATE", "state", "SUBSCRIPTION_STATE_", {
      color: colorBy("state", {
        SUBSCRIPTION_STATE_ACTIVE: "green",
        SUBSCRIPTION_STATE_PAUSED: "yellow",
        SUBSCRIPTION_STATE_DISABLED: "red",
      }),
    }),
    text("TYPES", "typePrefixes", FLEXIBLE),
    text("REASON", "stateReason", { flexible: true, wide: true }),
    word("FORMAT", "format", "SUBSCRIPTION_FORMAT_", WIDE),
    count("RATE", "allowedRate", WIDE),
    { ...CREATED, ...WIDE },
    UID,
  ],
  deliveries: [
    time("CREATED", "createTime"),
    text("TYPE", "eventType", FLEXIBLE),
    word("STATE", "state", "DELIVERY_STATE_", {
      color: colorBy("state", {
        DELIVERY_STATE_DELIVERED: "green",
        DELIVERY_STATE_RETRYING: "yellow",
        DELIVERY_STATE_DEAD: "red",
      }),
    }),
    count("ATTEMPTS", "tries"),
    {
      header: "STATUS",
      value: (item) => (textAt(item, "lastStatus") === "0" ? "" : textAt(item, "lastStatus")),
      right: true,
    },
    time("NEXT", "nextTryTime"),
    text("ERROR", "lastError", FLEXIBLE),
    named("SUBJECT", "eventSubject", undefined, WIDE),
    text("EVENT", "eventId", WIDE),
    UID,
  ],
  events: [
    time("TIME", "time"),
    text("TYPE", "type"),
    named("SUBJECT", "subject", undefined, FLEXIBLE),
    named("BY", "actor", "identity"),
    named("GROUP", "group", "group", WIDE),
    text("ID", "id", WIDE),
    text("SEQUENCE", "sequence", WIDE),
  ],
  advisories: [
    text("ID", "advisoryId"),
    text("ALIASES", "aliases"),
    text("ARTIFACT", "artifactName"),
    text("COMPONENT", "componentName"),
    { header: "LATEST EVENT", value: (item) => advisoryEventType(lastEvent(item)) },
    UPDATED,
    text("ORIGIN", "origin", WIDE),
    named("BY", "author", "identity", WIDE),
    UID,
  ],
  advisoryEvents: [
    time("TIME", "createTime"),
    { header: "TYPE", value: advisoryEventType },
    word("REVIEW", "reviewState", "REVIEW_STATE_", {
      color: colorBy("reviewState", {
        REVIEW_STATE_APPROVED: "green",
        REVIEW_STATE_REQUEST_CHANGES: "yellow",
        REVIEW_STATE_REJECTED: "red",
      }),
    }),
    named("BY", "author", "identity"),
    named("REVIEWER", "reviewer", "identity"),
    text("ISSUE", "issue", { flexible: true, wide: true }),
    UID,
  ],
  unknownImages: [
    named("REPO", "repo", "repo", FLEXIBLE),
    text("TAGS", "tags", FLEXIBLE),
    word("STATE", "state", "KNOWLEDGE_STATE_"),
    text("PLATFORM", "platform"),
    text("REASON", "reason", FLEXIBLE),
    yes("WAITS", "waits"),
    text("DIGEST", "digest", WIDE),
  ],
  days: [
    text("DAY", "day"),
    count("CRITICAL", "open.critical", UNKNOWN),
    count("HIGH", "open.high", UNKNOWN),
    count("MEDIUM", "open.medium", UNKNOWN),
    count("LOW", "open.low", UNKNOWN),
    {
      ...count("UNKNOWN IMAGES", "unknownImages", UNKNOWN),
      value: (item) => (item["open"] ? textAt(item, "unknownImages") : ""),
    },
    yes("INCOMPLETE", "incomplete"),
    count("NEGLIGIBLE", "open.negligible", { ...UNKNOWN, ...WIDE }),
    count("UNKNOWN", "open.unknown", { ...UNKNOWN, ...WIDE }),
    time("COUNTED", "countTime", WIDE),
  ],
  findings: [
    text("VULNERABILITY", "vulnerability"),
    SEVERITY,
    count("SCORE", "score"),
    yes("KEV", "kev", { color: () => "red" }),
    text("PACKAGE", "package.name", FLEXIBLE),
    text("VERSION", "package.version", FLEXIBLE),
    text("FIXED IN", "fixVersions", FLEXIBLE),
    named("REPO", "repo", "repo", FLEXIBLE),
    text("TAGS", "tags", FLEXIBLE),
    word("STATE", "state", "FINDING_STATE_", WIDE),
    word("FIX", "fixState", "FIX_STATE_", WIDE),
    text("EPSS", "epss", { wide: true, right: true }),
    time("OPENED", "openTime", WIDE),
    text("ALIASES", "aliases", WIDE),
    digest("DIGEST", "digest", WIDE),
    text("PURL", "package.purl", WIDE),
  ],
  scanners: [
    nameColumn("scanners"),
    {
      header: "SOFTWARE",
      value: (item) =>
        [textAt(item, "adapter.name"), textAt(item, "adapter.version")].filter((part) => part !== "").join(" "),
    },
    text("URL", "url", FLEXIBLE),
    { header: "STATE", value: (item) => (item["disabled"] === true ? "disabled" : "enabled") },
    time("CHECKED", "checkTime"),
    text("DESCRIPTION", "description", WIDE),
    UID,
  ],
  scans: [
    time("REQUESTED", "requestTime"),
    text("SCANNER", "scannerName"),
    word("TYPE", "type", "SCAN_TYPE_"),
    word("STATE", "state", "SCAN_STATE_", {
      color: colorBy("state", { SCAN_STATE_DONE: "green", SCAN_STATE_FAILED: "red" }),
    }),
    digest("DIGEST", "digest"),
    { header: "FOUND", value: countsOf, flexible: true },
    text("REASON", "reason", { flexible: true, wide: true }),
    count("PACKAGES", "packages", WIDE),
    time("REPORTED", "reportTime", WIDE),
    UID,
  ],
  replications: [
    nameColumn("replications"),
    text("DESTINATION", "destination"),
    {
      header: "STATE",
      value: (item) =>
        item["disabled"] === true ? "disabled" : textAt(item, "state.lastError") === "" ? "enabled" : "failing",
    },
    count("WAITING", "state.pending"),
    count("RUNNING", "state.running", WIDE),
    count("FAILED", "state.failed"),
    count("BLOCKED", "state.blocked"),
    time("LAST SUCCESS", "state.lastSuccessTime"),
    text("LAST ERROR", "state.lastError", { flexible: true, color: () => "red" }),
    text("REPOS", "repoPattern", WIDE),
    text("TAGS", "tagPattern", WIDE),
    duration("INTERVAL", "interval", WIDE),
    text("DESCRIPTION", "description", WIDE),
    UID,
  ],
  "replications items": [
    {
      header: "TAG",
      value: (item) => `${textAt(item, "repository")}:${textAt(item, "tag")}`,
    },
    {
      header: "STATE",
      value: (item) => textAt(item, "state").replace("REPLICATION_ITEM_STATE_", "").toLowerCase(),
    },
    count("ATTEMPTS", "attempts"),
    time("NEXT", "nextTime"),
    text("DIGEST", "digest", WIDE),
    count("BYTES", "bytes", WIDE),
    text("MESSAGE", "message", { flexible: true }),
  ],
  registryUpstreams: [
    nameColumn("registryUpstreams"),
    text("PREFIX", "prefix", WIDE),
    {
      header: "STATE",
      value: (item) =>
        item["disabled"] === true ? "disabled" : textAt(item, "lastError") === "" ? "enabled" : "failing",
    },
    count("LEFT", "rate.remaining"),
    count("LIMIT", "rate.limit", WIDE),
    {
      header: "FOLLOWS",
      value: (item) => textAt(item, "followState.state").replace("SYNC_STATE_", "").toLowerCase(),
    },
    {
      header: "READ BY",
      value: (item) =>
        textAt(item, "followState.way")
          .replace(/^FOLLOW_WAY_(?:UNSPECIFIED)?/, "")
          .toLowerCase(),
      wide: true,
    },
    count("UNREPORTED PULLS", "followState.pendingReports", WIDE),
    time("LAST ANSWER", "lastSuccessTime"),
    text("LAST ERROR", "lastError", { flexible: true, color: () => "red" }),
    duration("TAG TTL", "tagTtl", WIDE),
    duration("COOLDOWN", "cooldown", WIDE),
    text("ALLOWED", "allowed", WIDE),
    text("DENIED", "denied", WIDE),
    text("DESCRIPTION", "description", WIDE),
    UID,
  ],
  upstreams: [
    nameColumn("upstreams"),
    text("URL", "url", FLEXIBLE),
    {
      header: "STATE",
      value: (item) =>
        item["disabled"] === true ? "disabled" : textAt(item, "lastError") === "" ? "enabled" : "failing",
    },
    time("LAST ANSWER", "lastSuccessTime"),
    text("LAST ERROR", "lastError", { flexible: true, color: () => "red" }),
    text("RESERVED", "reservedNames", WIDE),
    text("MERGED", "mergedNames", WIDE),
    text("DESCRIPTION", "description", WIDE),
    UID,
  ],
  artifactPolicies: [
    nameColumn("artifactPolicies"),
    word("MODE", "mode", "POLICY_MODE_"),
    duration("COOLDOWN", "cooldown"),
    yes("MALWARE", "blockMalware"),
    text("BLOCKED", "blockedPurls", FLEXIBLE),
    text("ALLOWED", "allowedPurls", WIDE),
    text("LICENSES", "allowedLicenses", WIDE),
    text("DENIED", "deniedLicenses", WIDE),
    text("DESCRIPTION", "description", WIDE),
    UID,
  ],
  blocks: [
    time("LAST", "lastTime"),
    above("GROUP", "group"),
    text("NAME", "name"),
    text("VERSION", "version"),
    word("REASON", "reason", "BLOCK_REASON_"),
    word("MODE", "mode", "POLICY_MODE_"),
    text("DETAIL", "detail", FLEXIBLE),
    named("IDENTITY", "identity", "identity"),
    count("COUNT", "count"),
    time("OPENS", "openTime", WIDE),
    time("FIRST", "firstTime", WIDE),
    UID,
  ],
  vulnerabilities: [
    text("ID", "id"),
    SEVERITY,
    text("PACKAGE", "package"),
    text("VERSION", "version"),
    text("FIXED IN", "fixVersion"),
    DESCRIPTION,
    count("SCORE", "score", WIDE),
    text("LINKS", "links", WIDE),
  ],
  feeds: [
    text("NAME", "name"),
    text("FORMAT", "format"),
    count("RECORDS", "records"),
    count("PROBLEMS", "problems"),
    time("LAST SUCCESS", "successTime"),
    text("ERROR", "error", { flexible: true, color: () => "red" }),
    time("LAST ATTEMPT", "attemptTime", WIDE),
    text("LICENCE", "licence", WIDE),
  ],
  presets: [
    text("NAME", "name"),
    text("COVERS", "covers", FLEXIBLE),
    text("FORMAT", "format", WIDE),
    text("ADDRESS", "address", WIDE),
    text("LICENCE", "licence", WIDE),
  ],
  problems: [
    text("FEED", "feed"),
    text("RECORD", "record"),
    text("WHY", "message", FLEXIBLE),
    text("WHERE", "position", WIDE),
  ],
  "operations repos": [
    text("NAME", "name"),
    count("TAGS", "tags"),
    count("MANIFESTS", "manifests"),
    count("BLOBS", "blobs"),
    bytes("BYTES", "bytes"),
  ],
  attention: [
    word("KIND", "kind", "ATTENTION_KIND_"),
    { header: "COUNT", value: countOfAttention, right: true },
    { header: "FIRST", value: (item) => textAt(objectsIn(item, "subjects")[0] ?? {}, "name"), ...FLEXIBLE },
    { header: "NOT LOOKED AT", value: gapsOfAttention },
    { header: "DETAIL", value: (item) => textAt(objectsIn(item, "subjects")[0] ?? {}, "detail"), ...WIDE },
  ],
  jobs: [
    text("NAME", "name"),
    time("DUE", "dueTime"),
    text("HOLDER", "holder", FLEXIBLE),
    time("LEASE UNTIL", "leaseUntilTime"),
  ],
};
