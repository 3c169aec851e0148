export { cleanUploads } from "./cleaning.ts";
export type { RegistryDeps } from "./context.ts";
export { createPulls } from "./pulls.ts";
export { distributionDoor } from "./router.ts";
export { tokenDoor } from "./token.ts";
