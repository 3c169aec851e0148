// Which image has been signed: another digest, another repo, indexes and their images, and what is signed with it.
import { deleteReference } from "../catalog/push.ts";
import {
  cosignLayer,
  cosignPayload,
  envelopeBundle,
  inToto,
  COSIGN_SIGN,
  pushCosign,
  pushReferrer,
  tagFor,
} from "../signing.ts";
import { agree, asBundle, asTag, differ, verify } from "./asks.ts";
import type { Row, Signing } from "./rows.ts";

const signer = { keys: ["p256"] } as const;
const ask = verify("p256");

/** A signature about another image, attached to this one. */
const another = ({ digest }: Signing): string => digest.replace(/.{8}$/, "00000000");

export const IMAGE_ROWS: readonly Row[] = [
  agree("digest-tag", "a signature of another image, below the tag of this one", false, {
    attach: ({ repo, keys, ...rest }) =>
      pushCosign(repo, rest.digest, [cosignLayer(keys.p256, cosignPayload(another({ repo, keys, ...rest })))]),
    signer,
    ask,
  }),
  agree("digest-bundle", "a signature of another image, as a referrer of this one", false, {
    attach: (s) => pushReferrer(s.repo, s.digest, envelopeBundle(s.keys.p256, inToto(another(s), COSIGN_SIGN))),
    signer,
    ask,
  }),
  agree("repo-other", "a signature in another repo alone", false, {
    attach: async ({ platform, repo, digest, keys }) => {
      const { uid } = await platform.repo(repo.group, { name: "other" });
      const other = { ...repo, repo: uid, name: repo.name.replace(/app$/, "other") };
      await pushCosign(other, digest, [cosignLayer(keys.p256, cosignPayload(digest))]);
    },
    signer,
    ask,
  }),
  agree("repo-copied", "a signature that was made in another repo, copied with its image", true, {
    attach: ({ repo, digest, keys }) =>
      pushCosign(repo, digest, [cosignLayer(keys.p256, cosignPayload(digest, "registry.example.com/acme/other"))]),
    signer,
    ask,
  }),
  differ(
    "repo-name",
    "the same, where the name must be that of this repo",
    "only a rule with sameName looks at where it was signed; cosign looks at the digest alone",
    {
      attach: ({ repo, digest, keys }) =>
        pushCosign(repo, digest, [cosignLayer(keys.p256, cosignPayload(digest, "registry.example.com/acme/other"))]),
      signer,
      rule: { sameName: true },
      ask,
      cosign: true,
    },
  ),
  agree("repo-own-name", "signed here, where the name must be that of this repo", true, {
    attach: asTag("p256"),
    signer,
    rule: { sameName: true },
    ask,
  }),
  agree("recursive-child", "an image of an index that was signed with --recursive", true, {
    of: "child",
    attach: (s) => asBundle("p256", "--recursive")(s, s.index),
    signer,
    ask,
  }),
  agree("recursive-index", "an index that was signed with --recursive", true, {
    of: "index",
    attach: asTag("p256", "--recursive"),
    signer,
    ask,
  }),
  agree("index", "an index that is signed alone", true, { of: "index", attach: asBundle("p256"), signer, ask }),
  differ(
    "index-child",
    "an image of an index that is signed alone",
    "an index names its images by their digests, so whoever signs it vouches for them; cosign looks at the digest that it is asked about",
    {
      of: "child",
      attach: (s) => asBundle("p256")(s, s.index),
      signer,
      ask,
      cosign: false,
    },
  ),
  agree("index-each", "the same where each platform has to be signed", false, {
    of: "child",
    attach: (s) => asBundle("p256")(s, s.index),
    signer,
    ask,
    policy: { eachPlatform: true },
  }),
  differ(
    "index-of-signed",
    "an index all of whose images are signed, and itself is not",
    "nothing is in such an index that was not signed; cosign looks at the digest that it is asked about",
    {
      of: "index",
      attach: async (s) => {
        for (const child of s.children) await asBundle("p256")(s, child);
      },
      signer,
      ask,
      cosign: false,
    },
  ),
  agree("taken-away", "a signature that was taken away", false, {
    attach: async (s) => {
      await asTag("p256")(s);
      await deleteReference(s.repo, tagFor(s.digest, "sig"));
    },
    signer,
    ask,
  }),
  ...(["tag", "bundle"] as const).flatMap((form) => {
    const sign = form === "tag" ? asTag : asBundle;
    return [
      agree(`annotated-${form}`, `signed with -a env=prod, as a ${form}`, true, {
        attach: sign("p256", "-a", "env=prod"),
        signer,
        rule: { annotations: { env: "prod" } },
        ask: verify("p256", "-a", "env=prod"),
      }),
      agree(`annotated-other-${form}`, `signed with -a env=dev, as a ${form}, where prod is asked for`, false, {
        attach: sign("p256", "-a", "env=dev"),
        signer,
        rule: { annotations: { env: "prod" } },
        ask: verify("p256", "-a", "env=prod"),
      }),
      agree(`annotated-not-${form}`, `signed without annotations, as a ${form}`, false, {
        attach: sign("p256"),
        signer,
        rule: { annotations: { env: "prod" } },
        ask: verify("p256", "-a", "env=prod"),
      }),
    ];
  }),
];
