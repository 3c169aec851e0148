// The services and functions of trust that other features use.
export { trustArea } from "./area.ts";
export { removeUnusedSignatures } from "./queue/remove.ts";
export { startSignatures } from "./verifying/runner.ts";
