import { type DescMessage, type DescMethod, hasOption, type Message } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import {
  AccountAssociationsService,
  ArtifactPoliciesService,
  ExternalGroupRoleMappingsService,
  GroupInvitesService,
  IdentitiesService,
  IdentityProvidersService,
  RoleBindingsService,
  RolesService,
  SecurityTokenService,
  SubscriptionsService,
  TagPolicySchema,
  Transaction,
  transaction,
} from "@moorage/api/messages";
import {
  ExternalGroupRoleMappings,
  GroupAccountAssociations,
  GroupInvites,
  Identities,
  IdentityProviders,
  RoleBindings,
  Roles,
} from "@moorage/api/v1/iam";
import { http as httpOption } from "@moorage/api/gen/google/api/annotations_pb";
import { type FieldViolation, invalidArgument } from "../errors.ts";
import { optionOf } from "../lib/options.ts";
import { type Fields, fieldNamed, getField, isOutputOnly, violate } from "../lib/protojson/fields.ts";
import { type Selection, selectionOf } from "../lib/protojson/field-mask.ts";

/** The services whose writing methods decide who may do what, and who gets to know what. */
const SERVICES: ReadonlySet<string> = new Set(
  [
    IdentitiesService,
    RolesService,
    RoleBindingsService,
    GroupInvitesService,
    IdentityProvidersService,
    ExternalGroupRoleMappingsService,
    AccountAssociationsService,
    SecurityTokenService,
    SubscriptionsService,
    ArtifactPoliciesService,
    Identities,
    Roles,
    RoleBindings,
    GroupInvites,
    IdentityProviders,
    ExternalGroupRoleMappings,
    GroupAccountAssociations,
  ].map(({ typeName }) => typeName),
);
/** Messages that do so in requests of other services. */
const MESSAGES: ReadonlySet<string> = new Set([TagPolicySchema.typeName]);

/**
 * Throws INVALID_ARGUMENT for a request with a field that its sender knows and this server does not, where to drop it
 * would change who may do what: a relationship of an identity that is not there would leave it without one, or with the
 * one that was replaced. In JSON every unknown field is refused. A number that a message reserves is known, and passed
 * over on purpose; so is what an update's mask leaves out. Source: docs/contract.md, "JSON".
 */
export function requireKnownFields(method: DescMethod, message: Message): void {
  if (optionOf(method, transaction) === Transaction.READ) return;
  const isWhole = SERVICES.has(method.parent.typeName);
  if (!isWhole && !holdsGuarded(method.input)) return;
  const bad: FieldViolation[] = [];
  const request = message as Fields;
  const body = hasOption(method, httpOption) ? optionOf(method, httpOption).body : "*";
  const mask = fieldNamed(method.input, "update_mask");
  const { paths = [] } = (mask && (getField(request, mask) as FieldMask | undefined)) ?? {};
  const selection = paths.length === 0 ? undefined : selectionOf(paths.map(snakeCase));
  if (isWhole) requireNone(method.input, request, "", bad);
  for (const field of method.input.fields) {
    // As in REST: what the body holds is named relative to it, and is what a mask is about.
    const isBody = field.name === body;
    const at = { path: isBody ? "" : field.jsonName, selection: isBody ? selection : undefined };
    if (field.message !== undefined) visitValues(field.message, getField(request, field), at, isWhole, bad);
  }
  if (bad.length > 0) throw invalidArgument(...bad);
}

interface At {
  path: string;
  /** What of the message is read; undefined for all of it. */
  selection: Selection | undefined;
}

function visitValues(desc: DescMessage, value: unknown, at: At, isGuarded: boolean, bad: FieldViolation[]): void {
  if (value === undefined || !isOurs(desc)) return;
  if (Array.isArray(value))
    value.forEach((each, index) =>
      visit(desc, each as Fields, { ...at, path: `${at.path}[${index}]` }, isGuarded, bad),
    );
  else if ("$typeName" in (value as object)) visit(desc, value as Fields, at, isGuarded, bad);
  else
    for (const [key, each] of Object.entries(value as Record<string, Fields>))
      visit(desc, each, { ...at, path: `${at.path}.${key}` }, isGuarded, bad);
}

function visit(
  desc: DescMessage,
  message: Fields,
  { path, selection }: At,
  isAround: boolean,
  bad: FieldViolation[],
): void {
  const isGuarded = isAround || MESSAGES.has(desc.typeName);
  // A mask names no field that is not known.
  if (isGuarded && selection === undefined) requireNone(desc, message, path, bad);
  for (const field of desc.fields) {
    const selected = selection?.get(field.name);
    if (field.message === undefined || isOutputOnly(field) || (selection !== undefined && selected === undefined))
      continue;
    const inner = {
      path: path === "" ? field.jsonName : `${path}.${field.jsonName}`,
      selection: selected === "whole" ? undefined : selected,
    };
    visitValues(field.message, getField(message, field), inner, isGuarded, bad);
  }
}

function requireNone(desc: DescMessage, message: Fields, path: string, bad: FieldViolation[]): void {
  for (const { no } of message.$unknown ?? []) {
    if (desc.proto.reservedRange.some(({ start, end }) => start <= no && no < end)) continue;
    violate(bad, path === "" ? String(no) : `${path}.${no}`, `is a field of ${desc.typeName} that this server lacks`);
  }
}

function isOurs({ file }: DescMessage): boolean {
  return file.proto.package.startsWith("moorage.");
}

const holding = new Map<DescMessage, boolean>();

/** Whether one of the guarded messages can stand in it. */
function holdsGuarded(desc: DescMessage): boolean {
  const known = holding.get(desc);
  if (known !== undefined) return known;
  // Set before it is known: a message may contain its own type.
  holding.set(desc, false);
  const holds = desc.fields.some(
    ({ message }) =>
      message !== undefined && isOurs(message) && (MESSAGES.has(message.typeName) || holdsGuarded(message)),
  );
  holding.set(desc, holds);
  return holds;
}

function snakeCase(path: string): string {
  return path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
