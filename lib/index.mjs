import boxoffice from './index.js'

export const { Mutex, platform, Semaphore } = boxoffice
