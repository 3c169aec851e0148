import {
  AWSIdentitySchema,
  ClaimMatchSchema,
  IdentitiesService,
  IdentitySchema as V2Identity,
  StaticKeysSchema,
} from "@moorage/api/messages";
import {
  Identities,
  Identity_AWSIdentitySchema,
  Identity_ClaimMatchSchema,
  Identity_StaticKeysSchema,
  IdentityListSchema,
  IdentitySchema,
} from "@moorage/api/v1/iam";
import type { Method } from "../../runtime/methods.ts";
import { mapping, nested } from "../mapping.ts";
import { translated } from "../service.ts";
import { itemsOf, listed, withId } from "../v2.ts";

const claimMatch = mapping(Identity_ClaimMatchSchema, ClaimMatchSchema, {
  issuer: "issuer",
  issuerPattern: "issuerPattern",
  subject: "subject",
  subjectPattern: "subjectPattern",
  audience: "audience",
  audiencePattern: "audiencePattern",
  claims: "claims",
  claimPatterns: "claimPatterns",
});

const staticKeys = mapping(Identity_StaticKeysSchema, StaticKeysSchema, {
  issuer: "issuer",
  subject: "subject",
  issuerKeys: "issuerKeys",
  expiration: "expirationTime",
  audiences: "audiences",
});

const awsIdentity = mapping(Identity_AWSIdentitySchema, AWSIdentitySchema, {
  awsAccount: "awsAccount",
  arn: "arn",
  arnPattern: "arnPattern",
  userId: "userId",
  userIdPattern: "userIdPattern",
});

const identity = mapping(IdentitySchema, V2Identity, {
  id: "uid",
  name: "name",
  description: "description",
  createdAt: "createTime",
  updatedAt: "updateTime",
  lastSeen: "lastSeenTime",
  claimMatch: nested("claimMatch", claimMatch),
  static: nested("staticKeys", staticKeys),
  awsIdentity: nested("awsIdentity", awsIdentity),
});

const { createIdentity, deleteIdentity, listIdentities, lookupIdentity, updateIdentity } = IdentitiesService.method;

/** moorage.iam.Identities. */
export const identities: [string, Method][] = translated(Identities, [identity], {
  create: async (v2, { parentId: parent, identity: given }) =>
    identity.toV1(await v2.answer(createIdentity, { parent, ...(given && { identity: identity.toV2(given) }) })),
  update: async (v2, given) =>
    identity.toV1(await v2.answer(updateIdentity, { identity: identity.toV2(given), updateMask: identity.mask })),
  list: (v2, { id, uidp }) =>
    listed(IdentityListSchema, v2.pages(listIdentities, { uidp: withId(uidp, id) }), itemsOf(identity, "identities")),
  async lookup(v2, { issuer, subject }) {
    const { uid } = await v2.answer(lookupIdentity, { issuer, subject });
    // A list has no error for what the caller may not read: of that it gets the id alone.
    const {
      identities: [found],
    } = await v2.answer(listIdentities, { uidp: { ids: [uid] } });
    return found === undefined ? { id: uid } : identity.toV1(found);
  },
  delete: (v2, { id: uid }) => v2.answer(deleteIdentity, { uid }),
});
