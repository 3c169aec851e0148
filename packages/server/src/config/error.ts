/** A wrong setting: one line that names it. */
export class ConfigError extends Error {}
