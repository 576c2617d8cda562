import { testCrashes } from '../../support/create-crash-walk';

testCrashes(false);
