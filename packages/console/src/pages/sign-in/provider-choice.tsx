import { Button } from "../../ui/button.tsx";
import styles from "./frame.module.css";
import { lastFirst, type Provider, signInThrough } from "./providers.ts";

export interface ProviderChoiceProps {
  organization: string;
  providers: readonly Provider[];
  to: string | undefined;
}

/** A button for each identity provider of the organization, the one of the last sign-in first. */
export function ProviderChoice({ organization, providers, to }: ProviderChoiceProps) {
  return (
    <ul className={styles.providers} aria-label="Identity providers">
      {lastFirst(providers).map((provider, at) => (
        <li key={provider.uid}>
          <Button look={at === 0 ? "primary" : "plain"} onClick={() => signInThrough(provider, organization, to)}>
            Continue with {provider.name}
          </Button>
        </li>
      ))}
    </ul>
  );
}
