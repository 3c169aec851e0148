// Makes an example of a message from its descriptor: the reference shows one for each event type.
import { createHash } from "node:crypto";
import { create, type DescField, type DescMessage, getOption, type Message, ScalarType } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import {
  access,
  AdvisoryEvent_DetectionSchema,
  Capability,
  Ecosystem,
  FindingSeverity,
  MirrorTurnSchema,
  OrgKind,
  OrgStatus,
  ResourceDeletedSchema,
  ReviewState,
  ScanType,
  Severity_Type,
  GateMode,
  SignatureAction,
  SignatureTime,
  TagChangeSchema,
  TrustRootState,
} from "@moorage/api";
import type { EventType } from "../packages/platform/src/events/types.ts";

const TIME = time("2026-01-15T10:00:00Z");
const ORGANIZATION = hex("organization", 40);
const GROUP = `${ORGANIZATION}/${hex("group", 16)}`;
const REPO = `${GROUP}/${hex("repo", 16)}`;
const PROVIDER = `${GROUP}/${hex("provider", 16)}`;
const ADVISORY = `${GROUP}/${hex("advisory", 16)}`;
const PERSON = hex("person", 40);
const ROLE = hex("role", 40);
const DIGEST = `sha256:${hex("digest", 64)}`;

/**
 * Values of fields, by message and name or by name alone. Other texts are empty, other enums have their first value,
 * other numbers are 0.
 */
const VALUES: Readonly<Record<string, unknown>> = {
  uid: `${GROUP}/${hex("resource", 16)}`,
  "Group.uid": GROUP,
  "Repo.uid": REPO,
  "Identity.uid": `${GROUP}/${hex("identity", 16)}`,
  "AccountAssociation.uid": GROUP,
  "IdentityProvider.uid": PROVIDER,
  "ExternalGroupRoleMapping.uid": `${PROVIDER}/${hex("mapping", 16)}`,
  "TagChange.uid": `${REPO}/${hex("tag", 16)}`,
  "RoleBinding.BoundIdentity.uid": PERSON,
  "RoleBinding.BoundGroup.uid": GROUP,
  "RoleBinding.BoundRole.uid": ROLE,
  "GroupInvite.InvitedRole.uid": ROLE,
  "BatchDeleteExternalGroupRoleMappingsResponse.parent": PROVIDER,
  "Group.name": "team-a",
  "Repo.name": "api",
  "Identity.name": "build",
  "AccountAssociation.name": "production",
  "IdentityProvider.name": "example",
  "TagChange.name": "v1.4",
  "Role.name": "releaser",
  "RoleBinding.BoundIdentity.name": "ann",
  "RoleBinding.BoundGroup.name": "team-a",
  "RoleBinding.BoundRole.name": "viewer",
  "GroupInvite.InvitedRole.name": "viewer",
  "RoleBinding.BoundIdentity.subject": "ann",
  "Group.kind": OrgKind.CUSTOMER,
  "Group.status": OrgStatus.READY,
  "Role.capabilities": Capability.CAP_MANIFEST_CREATE,
  "GroupInvite.InvitedRole.capabilities": Capability.CAP_REPO_LIST,
  identity: PERSON,
  provider: PROVIDER,
  identity_provider_uid: PROVIDER,
  subscription: `${GROUP}/${hex("resource", 16)}`,
  role_binding: `${GROUP}/${hex("binding", 16)}`,
  repo_id: REPO,
  group: GROUP,
  scope: GROUP,
  role_uid: ROLE,
  default_role: ROLE,
  repository: "acme/team-a/api",
  tag: "v1.4",
  digest: DIGEST,
  "RegistryVersionMoved.tag": "v1.4.2",
  "MirrorTurn.message": "1 tag could not be copied: v1.4 (the source lists it, and answers 404)",
  "MirrorTurn.tags": 12,
  "MirrorTurn.failed": 1,
  "MirrorTurn.failures": 1,
  "MirrorTurn.FailedTag.failure": "missing",
  "MirrorTurn.FailedTag.reason": "the source lists it, and answers 404",
  previous_digest: `sha256:${hex("previous", 64)}`,
  digests: DIGEST,
  type: "manifest",
  reason: "push",
  remote_address: "192.0.2.7",
  user_agent: "docker/28.0.1",
  when: "2026-01-15T10:00:00.000000",
  method: "GET",
  message: "a test of this subscription",
  email: "ann@example.com",
  issuer: "https://issuer.example.com",
  subject: "repo:acme/api:ref:refs/heads/main",
  audience: "https://registry.example.com",
  client_id: "moorage",
  groups_claim: "groups",
  external_group_id: "engineers",
  key_id: hex("key", 8),
  expiration_time: time("2026-01-22T10:00:00Z"),
  account: "123456789012",
  document_ids: "terms-of-use",
  "Advisory.uid": ADVISORY,
  "AdvisoryEvent.uid": `${ADVISORY}/${hex("event", 16)}`,
  "Severity.type": Severity_Type.CVSS_V3,
  advisory_id: "MRG-2345-6789-cfgh",
  author: PERSON,
  reviewer: PERSON,
  "AdvisoryEvent.review_state": ReviewState.APPROVED,
  "AdvisoryEvent.detection": create(AdvisoryEvent_DetectionSchema, { type: { case: "manual", value: {} } }),
  artifact_name: "acme/team-a/api",
  artifact_type: "OCI_IMAGE",
  component_name: "openssl",
  component_type: "apk",
  "Advisory.aliases": "CVE-2026-1234",
  score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
  sink: "https://hooks.example.com/moorage",
  scan: `${REPO}/${hex("scan", 16)}`,
  scanner: `${GROUP}/${hex("resource", 16)}`,
  scanner_name: "trivy",
  "LibraryBlock.ecosystem": "npm",
  "LibraryBlock.name": "left-pad",
  "LibraryBlock.version": "1.3.1",
  "LibraryBlock.reason": "cooldown",
  "LibraryBlock.detail": "published at 2026-01-14T10:00:00.000Z",
  "LibraryBlock.mode": "enforce",
  "LibraryBlock.opens": "2026-01-21T10:00:00.000Z",
  "LibraryBlock.user_agent": "npm/11.6.0 node/v26.1.0 linux x64",
  "ArtifactPolicy.ecosystem": Ecosystem.JAVASCRIPT,
  "ArtifactPolicy.block_malware": true,
  "ArtifactPolicy.blocked_purls": "pkg:npm/left-pad@1.3.0",
  "Signer.name": "release",
  "Signer.description": "the release workflow",
  pem: "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAThmAp7z+PacSQAEMeBzHTkEouNCRUVBjt8L+jNTBBXU=\n-----END PUBLIC KEY-----\n",
  fingerprint: `sha256:${hex("fingerprint", 64)}`,
  "Signer.times": SignatureTime.REGISTRY,
  "TrustRoot.name": "sigstore",
  "TrustRoot.state": TrustRootState.WAITING,
  "TrustRoot.message": "it was not fetched from the mirror yet",
  "TufMirror.url": "https://tuf.example.com",
  "TufMirror.root": '{"signed":{"_type":"root","version":1},"signatures":[]}',
  "SignaturePolicy.name": "signed",
  "SignaturePolicy.description": "what production pulls",
  "SignaturePolicy.mode": GateMode.ENFORCE,
  "SignaturePolicy.on": SignatureAction.PULL,
  "SignaturePolicy.repo_pattern": "acme/prod/.*",
  "SignaturePolicy.tag_pattern": "v.*",
  "SignaturePolicy.hold_tags": false,
  "SignatureRule.name": "image",
  "SignatureRule.threshold": 1,
  "SignatureRule.predicate_type": "",
  "SignatureRule.same_name": false,
  "SignatureExemption.reason": "it is signed again next week",
  "SignatureExemption.tag": "",
  "SignatureGateDecision.action": "pull",
  "SignatureGatePolicy.name": "signed",
  "SignatureGatePolicy.outcome": "UNSIGNED",
  "SignatureGatePolicy.reason": "rule image: 0 of 1 by release",
  "ScanEnded.reason": "",
  "Scanner.name": "trivy",
  "Scanner.url": "https://scanner.example.com",
  "ScannerAdapter.name": "Trivy",
  "ScannerAdapter.vendor": "Aqua Security",
  "ScannerCapability.type": ScanType.VULNERABILITY,
  consumes_mime_types: "application/vnd.oci.image.manifest.v1+json",
  produces_mime_types: "application/vnd.security.vulnerability.report; version=1.1",
  "FindingsChange.tags": "v1.4",
  "FindingsChange.findings": 2,
  "FindingsChange.open": 3,
  "FindingsChange.worst": FindingSeverity.CRITICAL,
  "FindingsChange.vulnerabilities": "CVE-2026-1234",
  "FindingsChange.Severities.critical": 1,
  "FindingsChange.Severities.medium": 1,
};
/** Optional fields of resources that are rarely set; examples leave them out to stay short. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "google",
  "azure",
  "github",
  "services",
  "sync_config",
  "tag_policy",
  "old_secret_expire_time",
  "delete_time",
  "keyless",
  "x509",
  "refresh_time",
  "not_before",
  "not_after",
  "revoke_time",
  "since",
  "document_signers",
  "annotations",
  "provenance",
  "conditions",
  "max_age",
]);
// Events that the server causes by itself.
const BY_SYSTEM: ReadonlySet<string> = new Set([
  "registry.collect.v1",
  "vulnerabilities.finding.closed.v1",
  "vulnerabilities.finding.opened.v1",
  "vulnerabilities.scan.completed.v1",
  "vulnerabilities.scan.failed.v1",
]);

/** The actor of an example event. */
export function exampleActor({ type }: EventType): object {
  if (BY_SYSTEM.has(type)) return { subject: "", act: { actor: "system" } };
  return { subject: PERSON, act: { iss: "https://login.example.com", sub: "ann" } };
}

/** The body of an example. */
export function exampleBody({ type, body, methods: [method] }: EventType): Message {
  const message = exampleOf(body) as Message & Record<string, unknown>;
  if (body === ResourceDeletedSchema && method !== undefined)
    message["uid"] = named(getOption(method, access).resource, "uid");
  // Only a tag that was updated has a previous digest.
  if (body === MirrorTurnSchema && type.includes(".recovered."))
    Object.assign(message, { message: "", failed: 0, failedTags: [] });
  if (body === TagChangeSchema && !type.includes(".updated.")) message["previousDigest"] = "";
  if ("reason" in message && type.includes(".deleted.")) message["reason"] = "retention";
  return message;
}

function exampleOf(desc: DescMessage): Message {
  if (desc.typeName === TimestampSchema.typeName) return TIME;
  if (desc.typeName === DurationSchema.typeName) return create(DurationSchema, { seconds: 3600n });
  const message: Record<string, unknown> = {};
  for (const field of desc.fields) {
    const value = LEFT_OUT.has(field.name) ? undefined : valueOf(field);
    if (value === undefined) continue;
    if (field.oneof === undefined) message[field.localName] = field.fieldKind === "list" ? [value] : value;
    // Of a oneof, the example has the first member.
    else message[field.oneof.localName] ??= { case: field.localName, value };
  }
  return create(desc, message);
}

function valueOf(field: DescField): unknown {
  if (field.fieldKind === "map") return undefined;
  const value = named(field.parent.typeName, field.name);
  if (field.message !== undefined) return typeof value === "object" ? value : exampleOf(field.message);
  if (field.enum !== undefined) return value ?? field.enum.values[1]?.number;
  return field.scalar === ScalarType.STRING || typeof value === "number" ? value : undefined;
}

function named(typeName: string, field: string): unknown {
  return VALUES[`${typeName.replace(/^moorage\.\w+\.v2\./, "")}.${field}`] ?? VALUES[field];
}

function time(text: string): Message {
  return create(TimestampSchema, { seconds: BigInt(Date.parse(text) / 1000) });
}

function hex(seed: string, length: number): string {
  return createHash("sha256").update(seed).digest("hex").slice(0, length);
}
