// The services and functions of trust that other features use.
export { trustArea } from "./area.ts";
export { trustCommands } from "./commands.ts";
export { removeUnusedSignatures } from "./queue/remove.ts";
export { signaturesService } from "./signatures/service.ts";
export { signersService } from "./signers/service.ts";
export { startSignatures } from "./verifying/runner.ts";
