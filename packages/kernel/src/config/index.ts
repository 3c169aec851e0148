export { ConfigError } from "./error.ts";
export { type MirrorHost, parseDuration, type RegistryHost } from "./kinds.ts";
export { type Config, loadConfig, variableOf, settingError, withUrls } from "./load.ts";
export { COMMAND_VARIABLES, describeUnknown, knownVariables, unknownVariables } from "./variables.ts";
export { flagOf, type Setting, SETTINGS } from "./settings.ts";
