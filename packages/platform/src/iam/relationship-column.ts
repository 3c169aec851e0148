import { create, fromJsonString, toJsonString } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Identity, IdentitySchema, RelationshipType } from "@moorage/api/messages";
import type { Row } from "@moorage/kernel/store";

const TYPES = {
  claimMatch: RelationshipType.CLAIM_MATCH,
  staticKeys: RelationshipType.STATIC,
  awsIdentity: RelationshipType.AWS_IDENTITY,
  servicePrincipal: RelationshipType.SERVICE_PRINCIPAL,
} as const;

type RelationshipColumns = Pick<Row<"identities">, "relationship_type" | "relationship" | "issuer" | "subject">;

/** The columns of how an identity is assumed. `relationshipOf` is the inverse. */
export function relationshipColumns(relationship: Identity["relationship"]): RelationshipColumns {
  return {
    ...exactMatch(relationship),
    relationship_type: relationship.case === undefined ? 0 : TYPES[relationship.case],
    relationship:
      relationship.case === undefined ? "" : toJsonString(IdentitySchema, create(IdentitySchema, { relationship })),
  };
}

function exactMatch(relationship: Identity["relationship"]): { issuer: string; subject: string } {
  if (relationship.case === "staticKeys")
    return { issuer: relationship.value.issuer, subject: relationship.value.subject };
  if (relationship.case !== "claimMatch") return { issuer: "", subject: "" };
  const { iss, sub } = relationship.value;
  return { issuer: iss.case === "issuer" ? iss.value : "", subject: sub.case === "subject" ? sub.value : "" };
}

/** How the identity of a row is assumed. */
export function relationshipOf({ relationship }: { relationship: string }): Identity["relationship"] {
  return relationship === "" ? { case: undefined } : fromJsonString(IdentitySchema, relationship).relationship;
}

/** When the relationship stops accepting tokens, in milliseconds since 1970; Infinity when it never does. */
export function endOf(relationship: Identity["relationship"]): number {
  return relationship.case === "staticKeys" && relationship.value.expirationTime
    ? timestampMs(relationship.value.expirationTime)
    : Infinity;
}
