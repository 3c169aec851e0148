// `moorage completion`: the scripts by which shells complete the command.
import { Argument, type Command } from "commander";
import { completionScript } from "../package-files.ts";
import { SHELLS, type Shell } from "./reply.ts";
import { describes } from "../command/completion-sources.ts";

/** The file of each shell's script in the package's folder `completions`. */
export const SCRIPT_FILES: Readonly<Record<Shell, string>> = {
  bash: "moorage.bash",
  zsh: "_moorage",
  fish: "moorage.fish",
  powershell: "moorage.ps1",
};

const INSTALLING = `
To have it in every new shell:
  bash        echo 'source <(moorage completion bash)' >> ~/.bashrc
  zsh         echo 'source <(moorage completion zsh)' >> ~/.zshrc
              (after the line with compinit)
  fish        moorage completion fish > ~/.config/fish/completions/moorage.fish
  powershell  Add-Content $PROFILE \`
                'moorage completion powershell | Out-String | Invoke-Expression'

Repos, tags, groups, roles and others are completed from the server, as whoever
the command line is for; what it answered is kept for seconds below
$XDG_CACHE_HOME/moorage.`;

/** Adds `moorage completion`. */
export function addCompletion(program: Command): void {
  const shell = describes(new Argument("<shell>", "the shell").choices(SHELLS), {
    bash: "3.2 and later",
    zsh: "5 and later",
    fish: "3 and later",
    powershell: "5.1 and later",
  });
  program
    .command("completion")
    .description("print the script by which a shell completes this command")
    .addArgument(shell)
    .addHelpText("after", INSTALLING)
    .action((name: Shell) => {
      process.stdout.write(completionScript(SCRIPT_FILES[name]));
    });
}
