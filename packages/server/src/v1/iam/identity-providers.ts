import {
  IdentityProvider_OIDCSchema as V2OIDC,
  IdentityProviderSchema as V2IdentityProvider,
  IdentityProvidersService,
} from "@moorage/api/messages";
import {
  IdentityProvider_OIDCSchema,
  IdentityProviderListSchema,
  IdentityProviders,
  IdentityProviderSchema,
} from "@moorage/api/v1/iam";
import type { Method } from "../../runtime/methods.ts";
import { mapping, nested, sameNumbers } from "../mapping.ts";
import { translated } from "../service.ts";
import { itemsOf, listed, withId } from "../v2.ts";

const oidc = mapping(IdentityProvider_OIDCSchema, V2OIDC, {
  issuer: "issuer",
  clientId: "clientId",
  clientSecret: "clientSecret",
  additionalScopes: "additionalScopes",
  groupsClaim: "groupsClaim",
  correlationRule: sameNumbers("correlationRule"),
  pkceEnabled: "pkceEnabled",
});

const provider = mapping(IdentityProviderSchema, V2IdentityProvider, {
  id: "uid",
  name: "name",
  description: "description",
  defaultRole: "defaultRole",
  oidc: nested("oidc", oidc),
});

const { createIdentityProvider, deleteIdentityProvider, listIdentityProviders, updateIdentityProvider } =
  IdentityProvidersService.method;

/**
 * moorage.iam.IdentityProviders. No answer has the client secret, so that an Update without one keeps the one that is
 * stored for the same issuer and client, as a full replacement by v2 does.
 */
export const identityProviders: [string, Method][] = translated(IdentityProviders, [provider], {
  create: async (v2, { parentId: parent, identityProvider: given }) =>
    provider.toV1(
      await v2.answer(createIdentityProvider, {
        parent,
        ...(given && { identityProvider: provider.toV2(given) }),
      }),
    ),
  update: async (v2, given) =>
    provider.toV1(
      await v2.answer(updateIdentityProvider, { identityProvider: provider.toV2(given), updateMask: provider.mask }),
    ),
  list: (v2, { id, name, uidp }) =>
    listed(
      IdentityProviderListSchema,
      v2.pages(listIdentityProviders, { uidp: withId(uidp, id), name }),
      itemsOf(provider, "identityProviders"),
    ),
  delete: (v2, { id: uid }) => v2.answer(deleteIdentityProvider, { uid }),
});
