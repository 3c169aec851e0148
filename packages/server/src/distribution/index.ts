export { cleanUploads } from "./cleaning.ts";
export type { RegistryDeps, UpstreamDoor } from "./context.ts";
export { algorithmOf, isDigest, isTag } from "./digests.ts";
export type { StoredManifest } from "./manifest-commands.ts";
export { parseManifest, type Reference } from "./manifest-parse.ts";
export type { DueMirror, MirrorPlace } from "./mirror-commands.ts";
export { createPulls } from "./pulls.ts";
export { distributionDoor } from "./router.ts";
export { tokenDoor } from "./token.ts";
