// `preinstall`: says which Node is used where that of npm is older than what the packages ask for. Plain JavaScript of
// old versions: it may run on any Node.
const [, major = ""] = /\bnode\/v(\d+)/.exec(process.env.npm_config_user_agent ?? "") ?? [];
if (Number(major) < 24)
  console.log(`Node ${major} only installs: the npm scripts run on Node 26, which this project brings along.`);
