/** An invalid setting, which the message names in one line. */
export class ConfigError extends Error {}
